// SPDX-License-Identifier: Apache-2.0
#include "object/yaml/base64.h"

#include <cstdint>
#include <string_view>

#include "object/yaml/text_style.h"

namespace cox::yaml {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool Decode(std::string_view text, std::string* out) {
  uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (digits < 2 || ++padding + digits > 4) return false;
      continue;
    }
    size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos || padding > 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++digits < 4) continue;
    out->push_back(static_cast<char>(bits >> 16));
    out->push_back(static_cast<char>(bits >> 8));
    out->push_back(static_cast<char>(bits));
    bits = 0;
    digits = 0;
  }
  if (digits == 0) return true;
  if (digits + padding != 4) return false;
  if (digits == 2) out->push_back(static_cast<char>(bits >> 4));
  if (digits == 3) {
    out->push_back(static_cast<char>(bits >> 10));
    out->push_back(static_cast<char>(bits >> 2));
  }
  return true;
}

}  // namespace

bool DecodeBinary(std::string* text) {
  std::string bytes;
  if (!Decode(*text, &bytes)) return false;
  *text = RepairUtf8(bytes);
  return true;
}

}  // namespace cox::yaml
