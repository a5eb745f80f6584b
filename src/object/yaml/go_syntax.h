// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "object/value.h"

namespace cox::yaml {

// The value as Go's %#v prints what YAML decodes to: []interface {}{"a", 1}. Error texts about keys
// show it. Very long texts are cut.
std::string GoSyntax(const Value& value);
// 0xffffffffffffffff
std::string GoSyntaxUint(uint64_t value);

}  // namespace cox::yaml
