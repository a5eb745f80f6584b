// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/validation/field_error.h"
#include "object/validation/names.h"

namespace cox::apiserver {

// Appends one Invalid error for each message of a name rule about `value`.
inline void AppendInvalid(FieldErrorList& errors, const FieldPath& path, const FieldValue& value,
                          const validation::Messages& messages) {
  for (const std::string& message : messages) {
    errors.push_back(FieldError::Invalid(path, value, message));
  }
}

}  // namespace cox::apiserver
