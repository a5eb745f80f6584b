// SPDX-License-Identifier: Apache-2.0
#include "sdk/events/event_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "object/validation/names.h"

namespace cox::sdk {
namespace {

constexpr size_t kMaxName = 253;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

}  // namespace

std::string CutText(std::string_view text, size_t limit) {
  constexpr std::string_view kDots = "...";
  if (text.size() <= limit) return std::string(text);
  size_t size = limit - kDots.size();
  // Bytes 10xxxxxx continue a UTF-8 character.
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return std::string(text.substr(0, size)) + std::string(kDots);
}

std::string EventName(std::string_view object, std::string_view kind, int64_t unix_nanos) {
  std::array<char, 17> hex{};
  const auto number = static_cast<uint64_t>(unix_nanos);
  char* end = std::to_chars(hex.data(), hex.data() + hex.size(), number, 16).ptr;
  const std::string time(hex.data(), end);
  std::string name(object.substr(0, kMaxName - time.size() - 1));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  if (!validation::IsDNS1123Subdomain(name).empty()) name = LowerCase(kind);
  return name + "." + time;
}

}  // namespace cox::sdk
