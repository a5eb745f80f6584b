// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::net {

// The SHA-256 digest in lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace cox::net
