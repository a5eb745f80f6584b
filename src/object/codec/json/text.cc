// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::json {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Characters that need no escape in a string.
constexpr std::array<bool, 256> MakePlain() {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x80; ++c)
    plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  return plain;
}
constexpr std::array<bool, 256> kPlain = MakePlain();

constexpr std::array<int8_t, 256> MakeBase64Values() {
  std::array<int8_t, 256> values{};
  for (auto& v : values) v = -1;
  for (size_t i = 0; i < kBase64.size(); ++i)
    values[static_cast<unsigned char>(kBase64[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kBase64Values = MakeBase64Values();

void WriteUnicodeEscape(uint32_t unit, std::string* out) {
  out->append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out->push_back(kHex[unit >> shift & 0xf]);
}

// Writes the special character at the start of `rest`; returns the number of consumed bytes.
size_t WriteSpecial(std::string_view rest, std::string* out) {
  auto c = static_cast<unsigned char>(rest[0]);
  switch (c) {
    case '"':
    case '\\':
      out->push_back('\\');
      out->push_back(static_cast<char>(c));
      return 1;
    case '\b':
      out->append("\\b");
      return 1;
    case '\f':
      out->append("\\f");
      return 1;
    case '\n':
      out->append("\\n");
      return 1;
    case '\r':
      out->append("\\r");
      return 1;
    case '\t':
      out->append("\\t");
      return 1;
    default:
      break;
  }
  if (c < 0x80) {
    WriteUnicodeEscape(c, out);
    return 1;
  }
  Rune rune = DecodeRune(rest);
  if (!rune.valid || rune.value == 0x2028 ||
      rune.value == 0x2029) {  // the latter are line terminators in JavaScript
    WriteUnicodeEscape(rune.value, out);
  } else {
    out->append(rest.substr(0, rune.size));
  }
  return rune.size;
}

}  // namespace

void WriteString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t start = 0;
  size_t i = 0;
  while (i < text.size()) {
    if (kPlain[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    out->append(text, start, i - start);
    i += WriteSpecial(text.substr(i), out);
    start = i;
  }
  out->append(text, start, text.size() - start);
  out->push_back('"');
}

void WriteInt(int64_t value, std::string* out) {
  char buffer[24];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out->append(buffer, end);
}

void WriteDouble(double value, std::string* out) {
  out->append(std::isfinite(value) ? FormatDouble(value) : "null");
}

bool ToDouble(std::string_view number, double* value) {
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *value);
  if (error == std::errc()) return true;
  if (error != std::errc::result_out_of_range) return false;
  // An underflow is zero, as in Go; an overflow is an error. from_chars does not distinguish them:
  // only a negative exponent or a leading "0." causes an underflow.
  size_t e = number.find_first_of("eE");
  bool small = e != std::string_view::npos ? number[e + 1] == '-'
                                           : number.find('.') != std::string_view::npos;
  if (!small) return false;
  *value = number[0] == '-' ? -0.0 : 0.0;
  return true;
}

void WriteBase64(std::string_view bytes, std::string* out) {
  auto at = [bytes](size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out->push_back(kBase64[group >> 18]);
    out->push_back(kBase64[group >> 12 & 63]);
    out->push_back(i + 1 < bytes.size() ? kBase64[group >> 6 & 63] : '=');
    out->push_back(i + 2 < bytes.size() ? kBase64[group & 63] : '=');
  }
}

bool ReadBase64(std::string_view text, std::string* bytes, size_t* bad_at) {
  bytes->clear();
  bytes->reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int count = 0;
  auto is_break = [](char c) { return c == '\r' || c == '\n'; };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (is_break(c)) continue;
    if (c == '=') {
      // Padding ends the text: one or two characters, which complete a group of four.
      *bad_at = i;
      if (count < 2) return false;
      for (int missing = 4 - count; missing > 0; --missing, ++i) {
        while (i < text.size() && is_break(text[i])) ++i;
        if (i >= text.size()) return *bad_at = text.size(), false;
        if (text[i] != '=') return *bad_at = i, false;
      }
      while (i < text.size() && is_break(text[i])) ++i;
      if (i < text.size()) return *bad_at = i, false;
      group <<= 6 * (4 - count);
      bytes->push_back(static_cast<char>(group >> 16));
      if (count == 3) bytes->push_back(static_cast<char>(group >> 8));
      return true;
    }
    int8_t digit = kBase64Values[static_cast<unsigned char>(c)];
    if (digit < 0) return *bad_at = i, false;
    group = group << 6 | static_cast<uint32_t>(digit);
    if (++count == 4) {
      bytes->push_back(static_cast<char>(group >> 16));
      bytes->push_back(static_cast<char>(group >> 8));
      bytes->push_back(static_cast<char>(group));
      group = 0;
      count = 0;
    }
  }
  // Missing padding: Go reports the start of the last group.
  if (count != 0) return *bad_at = text.size() - static_cast<size_t>(count), false;
  return true;
}

void WriteCompact(std::string_view text, std::string* out) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '<' || c == '>' || c == '&') {
      WriteUnicodeEscape(static_cast<unsigned char>(c), out);
      continue;
    }
    if (in_string) {
      out->push_back(c);
      if (c == '\\' && i + 1 < text.size()) out->push_back(text[++i]);
      in_string = c != '"';
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out->push_back(c);
      in_string = c == '"';
    }
  }
}

}  // namespace cox::json
