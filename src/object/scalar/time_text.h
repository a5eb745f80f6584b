// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Helpers for parsing times and durations; private to this folder.
namespace cox {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Quotes text like Go's time package: bytes outside printable ASCII as \xNN.
inline std::string QuoteBytes(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x80) {
      out.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

}  // namespace cox
