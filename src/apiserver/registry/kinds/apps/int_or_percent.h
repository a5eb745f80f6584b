// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/scalar/int_or_string.h"
#include "object/validation/field_error.h"

// Fields that are a number of pods or a share of them: maxUnavailable, maxSurge, minAvailable.
namespace cox::apiserver {

// As field errors quote it: 1, "25%".
FieldValue ValueOf(const IntOrString& value);

// A number that is not negative, or a percentage.
FieldErrorList ValidatePositiveIntOrPercent(const IntOrString& value, const FieldPath& path);
// A percentage of 100 at most; numbers and what is no percentage are not judged here.
FieldErrorList ValidateNotMoreThan100Percent(const IntOrString& value, const FieldPath& path);

// The number, or the number before the percent sign; 0 for any other string. Tells whether a limit
// lets anything through at all.
int64_t IntOrPercentValue(const IntOrString& value);

}  // namespace cox::apiserver
