// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox::sdk {

// A word that nothing in C++ can be named by: keywords up to C++23, the other spellings of
// operators (and, bitor), and a macro of GNU compilers (unix; linux is undefined by the package).
bool IsCppWord(std::string_view word);

}  // namespace cox::sdk
