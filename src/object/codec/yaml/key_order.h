// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::yaml {

// Whether key `a` is written before key `b`: by characters, but numbers by what they count (a2
// before a10), and all else before letters. May disagree with itself on odd keys (a is before b
// before c before a), so sort only with what bears that: std::stable_sort.
bool KeyLess(std::string_view a, std::string_view b);

}  // namespace cox::yaml
