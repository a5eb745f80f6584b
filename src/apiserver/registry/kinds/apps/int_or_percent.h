// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/scalar/int_or_string.h"
#include "object/validation/field_error.h"

// Fields that are a number of pods or a percentage: maxUnavailable, maxSurge, minAvailable.
namespace cox::apiserver {

// The value as field errors contain it: 1, "25%".
FieldValue ValueOf(const IntOrString& value);

// Must be a number that is not negative, or a percentage.
FieldErrorList ValidatePositiveIntOrPercent(const IntOrString& value, const FieldPath& path);
// A percentage must be 100 at most; numbers and other strings are not checked here.
FieldErrorList ValidateNotMoreThan100Percent(const IntOrString& value, const FieldPath& path);

// The number, or the number before the percent sign; 0 for any other string. Used to find limits of
// zero.
int64_t IntOrPercentValue(const IntOrString& value);

}  // namespace cox::apiserver
