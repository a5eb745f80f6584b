// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/key_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/strings.h"

namespace cox::yaml {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Approximation by the blocks of punctuation and symbols; keys of the API are ASCII.
bool IsLetter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  if (c == 0xD7 || c == 0xF7) return false;
  if (c >= 0x2000 && c <= 0x2BFF) return false;
  if (c >= 0x3000 && c <= 0x3004) return false;
  if (c >= 0x3008 && c <= 0x3030) return false;
  if (c >= 0xE000 && c <= 0xF8FF) return false;
  return c < 0xFE00 || (c >= 0xFF21 && c != 0xFFFD && c < 0x1F000) || c >= 0x20000;
}

// Parses the number at `at`, and sets its end. Too many digits wrap around.
uint64_t Number(std::string_view text, uint64_t value, size_t* at) {
  for (; *at < text.size() && IsDigit(text[*at]); ++*at) {
    value = value * 10 + static_cast<uint64_t>(text[*at] - '0');
  }
  return value;
}

}  // namespace

bool KeyLess(std::string_view a, std::string_view b) {
  size_t i = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  // Go back to the start of the character that differs.
  while (i > 0 && i < a.size() && (a[i] & 0xC0) == 0x80) --i;
  if (i >= a.size() || i >= b.size()) return a.size() < b.size();
  char32_t ca = DecodeRune(a.substr(i)).value;
  char32_t cb = DecodeRune(b.substr(i)).value;
  bool letter_a = IsLetter(ca);
  bool letter_b = IsLetter(cb);
  if (letter_a && letter_b) return ca < cb;
  if (letter_a || letter_b) return letter_b;
  // In "10" and "1a", the zero continues a number that begins before the difference.
  uint64_t start = 0;
  if (ca == '0' || cb == '0') {
    for (size_t j = i; j > 0 && IsDigit(a[j - 1]); --j) {
      if (a[j - 1] != '0') start = 1;
    }
  }
  size_t end_a = i;
  size_t end_b = i;
  auto number_a = static_cast<int64_t>(Number(a, start, &end_a));
  auto number_b = static_cast<int64_t>(Number(b, start, &end_b));
  if (number_a != number_b) return number_a < number_b;
  if (end_a != end_b) return end_a < end_b;
  return ca < cb;
}

}  // namespace cox::yaml
