// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/meta/v1.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {

// metav1.Condition in the status of a kind: each type once, and every condition complete.
FieldErrorList ValidateConditions(const std::vector<meta::v1::Condition>& conditions,
                                  const FieldPath& path);

}  // namespace cox::apiserver
