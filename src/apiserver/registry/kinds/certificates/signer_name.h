// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/validation/field_error.h"

namespace cox::apiserver {

// A signer name is a domain of at least two labels and a path: "example.com/my.signer".
FieldErrorList ValidateSignerName(std::string_view name, const FieldPath& path);

}  // namespace cox::apiserver
