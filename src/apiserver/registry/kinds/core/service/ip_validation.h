// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/validation/field_error.h"

namespace cox::apiserver {

// Rejects addresses that cannot belong to an endpoint or to external traffic: unspecified, loopback
// and link-local ones, whose meaning depends on the machine. Also rejects invalid addresses.
FieldErrorList ValidateNonSpecialIp(std::string_view ip, const FieldPath& path);

}  // namespace cox::apiserver
