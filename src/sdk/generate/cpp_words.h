// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::sdk {

// True for words that cannot be C++ identifiers: keywords up to C++23, alternative operator tokens
// (and, bitor), and a macro of GNU compilers (unix; the package undefines linux).
bool IsCppWord(std::string_view word);

}  // namespace cox::sdk
