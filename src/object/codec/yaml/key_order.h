// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::yaml {

// Whether key `a` is written before key `b`: by characters, but numbers by their value (a2 before
// a10), and other characters before letters. Not a strict weak order for some keys (a < b < c < a),
// so use it only with algorithms that tolerate this: std::stable_sort.
bool KeyLess(std::string_view a, std::string_view b);

}  // namespace cox::yaml
