// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// JSON with one member or item per line, nested by one space, for the diffs in errors about
// immutable fields of volumes.
// REQUIRES: `json` is valid JSON without white space between its tokens.
std::string IndentJson(std::string_view json);

}  // namespace cox::apiserver
