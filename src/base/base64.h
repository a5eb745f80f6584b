// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// The URL-safe alphabet without padding, as tokens use it (RFC 4648, section 5).
namespace cox::base64 {

std::string EncodeUrl(std::string_view bytes);
// None if `text` has a character that is not of the alphabet, or a length no text can have.
std::optional<std::string> DecodeUrl(std::string_view text);

}  // namespace cox::base64
