// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace cox {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

void AppendHex(std::string& out, uint32_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 0xF];
}

// The letter after the backslash, or 0.
char ShortEscape(char32_t rune) {
  switch (rune) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
    case '\\':
      return static_cast<char>(rune);
    default:
      return 0;
  }
}

struct Range {
  char32_t first;
  char32_t last;
};

// Controls, formats, spaces other than ' ', surrogates, private use, non-characters. Sorted.
constexpr std::array kUnprintable = {
    Range{0x0000, 0x001F},   Range{0x007F, 0x00A0},   Range{0x00AD, 0x00AD},
    Range{0x0600, 0x0605},   Range{0x061C, 0x061C},   Range{0x06DD, 0x06DD},
    Range{0x070F, 0x070F},   Range{0x0890, 0x0891},   Range{0x08E2, 0x08E2},
    Range{0x1680, 0x1680},   Range{0x180E, 0x180E},   Range{0x2000, 0x200F},
    Range{0x2028, 0x202F},   Range{0x205F, 0x206F},   Range{0x3000, 0x3000},
    Range{0xD800, 0xF8FF},   Range{0xFDD0, 0xFDEF},   Range{0xFEFF, 0xFEFF},
    Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},   Range{0x110BD, 0x110BD},
    Range{0x110CD, 0x110CD}, Range{0x13430, 0x1343F}, Range{0x1BCA0, 0x1BCA3},
    Range{0x1D173, 0x1D17A}, Range{0x1FFFE, 0x1FFFF}, Range{0x2FFFE, 0x2FFFF},
    Range{0x3FFFE, 0xE00FF}, Range{0xE01F0, 0x10FFFF}};

void AppendEscapedRune(std::string& out, const Rune& rune, char byte) {
  if (!rune.valid) {
    out += "\\x";
    AppendHex(out, static_cast<uint8_t>(byte), 2);
  } else if (char letter = ShortEscape(rune.value); letter != 0) {
    out += '\\';
    out += letter;
  } else if (rune.value < 0x80) {
    out += "\\x";
    AppendHex(out, rune.value, 2);
  } else if (rune.value < 0x10000) {
    out += "\\u";
    AppendHex(out, rune.value, 4);
  } else {
    out += "\\U";
    AppendHex(out, rune.value, 8);
  }
}

// `value` as a decimal fraction of `unit`, without trailing zeros: 1500 of 1000 is "1.5".
void AppendFraction(std::string& out, uint64_t value, uint64_t unit) {
  out += std::to_string(value / unit);
  uint64_t rest = value % unit;
  if (rest == 0) return;
  out += '.';
  for (uint64_t place = unit / 10; rest != 0; place /= 10) {
    out += static_cast<char>('0' + rest / place);
    rest %= place;
  }
}

}  // namespace

Rune DecodeRune(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[size] || value > 0x10FFFF || surrogate) return {};
  return {value, size, true};
}

void AppendUtf8(std::string& out, char32_t rune) {
  if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF)) rune = Rune::kError;
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((rune >> shift) & 0x3F)); };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xC0 | (rune >> 6));
    tail(0);
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xE0 | (rune >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | (rune >> 18));
    tail(12), tail(6), tail(0);
  }
}

bool IsPrintable(char32_t rune) {
  const auto* after =
      std::upper_bound(kUnprintable.begin(), kUnprintable.end(), rune,
                       [](char32_t r, const Range& range) { return r < range.first; });
  return rune <= 0x10FFFF && (after == kUnprintable.begin() || rune > std::prev(after)->last);
}

void AppendQuoted(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  while (!text.empty()) {
    // Fast path: most texts contain only plain characters.
    const auto special = std::find_if(text.begin(), text.end(), [](char c) {
      return c < 0x20 || c > 0x7e || c == '"' || c == '\\';
    });
    const auto plain = static_cast<size_t>(special - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Rune rune = DecodeRune(text);
    const bool as_is =
        rune.valid && rune.value != '"' && rune.value != '\\' && IsPrintable(rune.value);
    if (as_is) {
      out += text.substr(0, rune.size);
    } else {
      AppendEscapedRune(out, rune, text[0]);
    }
    text.remove_prefix(rune.size);
  }
  out += '"';
}

std::string Quote(std::string_view text) {
  std::string out;
  AppendQuoted(out, text);
  return out;
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  std::string out = duration.count() < 0 ? "-" : "";
  // Unsigned, so that the magnitude of the most negative duration is representable.
  auto left = static_cast<uint64_t>(duration.count());
  if (duration.count() < 0) left = 0 - left;

  constexpr uint64_t kMicro = 1000;
  constexpr uint64_t kMilli = 1000 * kMicro;
  constexpr uint64_t kSecond = 1000 * kMilli;
  constexpr uint64_t kMinute = 60 * kSecond;
  if (left < kMicro) return out + std::to_string(left) + "ns";
  if (left < kMilli) return AppendFraction(out, left, kMicro), out + "µs";
  if (left < kSecond) return AppendFraction(out, left, kMilli), out + "ms";
  const uint64_t minutes = left / kMinute;
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  AppendFraction(out, left % kMinute, kSecond);
  return out + "s";
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  // Uses the exponent form only outside of this range, like JSON encoders.
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  std::array<char, 64> buffer;
  auto text = [&](std::chars_format format) {
    auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
    return std::string(buffer.data(), end);
  };
  constexpr double kExact = 9007199254740992;  // 2^53: above it, not all digits are significant
  if (plain && magnitude < kExact) return text(std::chars_format::fixed);
  std::string out = text(std::chars_format::scientific);
  const size_t e = out.find('e');
  if (!plain) {
    if (out[e + 1] == '-' && out[e + 2] == '0') out.erase(e + 2, 1);  // 1e-07 -> 1e-7
    return out;
  }
  // A large whole number: its shortest digits, then zeros.
  const auto exponent =
      static_cast<size_t>(out[e + 2] - '0') * 10 + static_cast<size_t>(out[e + 3] - '0');
  std::string digits = out.substr(0, e);
  std::erase(digits, '.');
  const size_t sign = digits[0] == '-' ? 1 : 0;
  digits.resize(sign + exponent + 1, '0');
  return digits;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

CutResult Cut(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, at), text.substr(at + 1), true};
}

std::vector<std::string> Split::ToStrings() const {
  std::vector<std::string> parts;
  for (std::string_view part : *this) parts.emplace_back(part);
  return parts;
}

}  // namespace cox
