// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/warning.h"

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The limit for all texts together, in bytes. If it is exceeded, each text is truncated.
constexpr size_t kTotalLimit = 4 * 1024;
constexpr size_t kCutLength = 256;

// Truncates to at most `limit` UTF-8 characters.
std::string_view Cut(std::string_view text, size_t limit) {
  size_t end = 0, characters = 0;
  while (end < text.size() && characters < limit) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    ++characters;
  }
  return text.substr(0, end);
}

std::string Header(std::string_view text) {
  std::string header = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') header += '\\';
    // Control characters would end the header.
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) header += c;
  }
  return header + "\"";
}

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts) {
  size_t total = 0;
  for (const std::string& text : texts) total += text.size();
  const bool cut = total > kTotalLimit;
  std::vector<std::string> headers;
  size_t used = 0;
  for (const std::string& text : texts) {
    const std::string_view shown = cut ? Cut(text, kCutLength) : std::string_view(text);
    used += shown.size();
    if (used > kTotalLimit) break;
    headers.push_back(Header(shown));
  }
  return headers;
}

}  // namespace cox::apiserver
