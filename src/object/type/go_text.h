// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/type/value.h"

// Values in the text format of Go: errors of patches and of server-side apply quote parts of a
// document in this format, and clients match these texts.
namespace cox {

// The verb %v: "map[image:x:1 name:b]", "[1 2]", "<nil>", "true", "1.5e+08".
// Truncated after kMaxGoTextBytes with "...", so that an error does not repeat a large body.
std::string GoText(const Value& value);
inline constexpr size_t kMaxGoTextBytes = 10'000;

// The verb %#v: `[]interface {}{"a", 1}`, `map[string]interface {}{"a":1}`, `interface {}(nil)`.
// `map_type` depends on the decoder that upstream uses. Truncated as GoText, without "...".
std::string GoSyntax(const Value& value, std::string_view map_type = "map[string]interface {}");

// The type of the decoded value in Go: "map[string]interface {}", "[]interface {}", "string",
// "int64", "float64", "bool"; for null "%!s(<nil>)", as Go prints a nil type.
std::string_view GoTypeName(const Value& value);

// The error text of Go's JSON decoder: "json: cannot unmarshal array into Go value of type
// <target>".
std::string CannotUnmarshal(const Value& value, std::string_view target);

}  // namespace cox
