// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/validation/field_error.h"

namespace cox::apiserver {

// Refuses addresses that cannot be those of an endpoint or of traffic from outside: unspecified,
// loopback and link-local ones, which mean another thing on every machine. What is no address at
// all is refused too.
FieldErrorList ValidateNonSpecialIp(std::string_view ip, const FieldPath& path);

}  // namespace cox::apiserver
