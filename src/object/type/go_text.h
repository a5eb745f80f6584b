// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/type/value.h"

// Values as a Go program prints them: errors of patches and of server-side apply quote the
// offending part of a document this way, and clients match on those texts.
namespace cox {

// The verb %v: "map[image:x:1 name:b]", "[1 2]", "<nil>", "true", "1.5e+08".
// Bounded: cut after kMaxGoTextBytes and ended with "...", so that an error cannot repeat a large
// body.
std::string GoText(const Value& value);
inline constexpr size_t kMaxGoTextBytes = 10'000;

// The verb %#v: `[]interface {}{"a", 1}`, `map[string]interface {}{"a":1}`, `interface {}(nil)`.
// What a map's type is called depends on who decoded it. Cut as GoText, without the dots.
std::string GoSyntax(const Value& value, std::string_view map_type = "map[string]interface {}");

// The type of what a Go decoder makes of it: "map[string]interface {}", "[]interface {}", "string",
// "int64", "float64", "bool"; of null the "%!s(<nil>)" that printing no type gives.
std::string_view GoTypeName(const Value& value);

// As decoding errors name a JSON value: "json: cannot unmarshal array into Go value of type
// <target>".
std::string CannotUnmarshal(const Value& value, std::string_view target);

}  // namespace cox
