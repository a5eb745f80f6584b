// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// The URL-safe alphabet without padding, as in tokens (RFC 4648, section 5).
namespace cox::base64 {

std::string EncodeUrl(std::string_view bytes);
// nullopt if `text` contains a character outside of the alphabet, or has an impossible length.
std::optional<std::string> DecodeUrl(std::string_view text);

}  // namespace cox::base64
