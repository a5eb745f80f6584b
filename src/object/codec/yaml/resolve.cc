// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/resolve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>

#include "object/codec/yaml/timestamp.h"

namespace cox::yaml {
namespace {

using Kind = Scalar::Kind;

struct Word {
  std::string_view text;
  Scalar meaning;
};

constexpr Scalar Bool(bool value) { return {.kind = Kind::kBool, .boolean = value}; }
constexpr Scalar Float(double value) { return {.kind = Kind::kFloat, .number = value}; }

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr Word kWords[] = {
    {"", {.kind = Kind::kNull}},
    {"~", {.kind = Kind::kNull}},
    {"null", {.kind = Kind::kNull}},
    {"Null", {.kind = Kind::kNull}},
    {"NULL", {.kind = Kind::kNull}},
    {"<<", {.kind = Kind::kMerge}},
    {"y", Bool(true)},
    {"Y", Bool(true)},
    {"yes", Bool(true)},
    {"Yes", Bool(true)},
    {"YES", Bool(true)},
    {"true", Bool(true)},
    {"True", Bool(true)},
    {"TRUE", Bool(true)},
    {"on", Bool(true)},
    {"On", Bool(true)},
    {"ON", Bool(true)},
    {"n", Bool(false)},
    {"N", Bool(false)},
    {"no", Bool(false)},
    {"No", Bool(false)},
    {"NO", Bool(false)},
    {"false", Bool(false)},
    {"False", Bool(false)},
    {"FALSE", Bool(false)},
    {"off", Bool(false)},
    {"Off", Bool(false)},
    {"OFF", Bool(false)},
    {".nan", Float(kNan)},
    {".NaN", Float(kNan)},
    {".NAN", Float(kNan)},
    {".inf", Float(kInf)},
    {".Inf", Float(kInf)},
    {".INF", Float(kInf)},
    {"+.inf", Float(kInf)},
    {"+.Inf", Float(kInf)},
    {"+.INF", Float(kInf)},
    {"-.inf", Float(-kInf)},
    {"-.Inf", Float(-kInf)},
    {"-.INF", Float(-kInf)},
};
constexpr size_t kLongestWord = 5;
constexpr std::string_view kWordStarts = "~<yYnNtTfFoO.+-";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Parses all of `text` as an unsigned number in `base`; nullopt if it does not fit.
std::optional<uint64_t> Unsigned(std::string_view text, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || stop != end || error != std::errc()) return std::nullopt;
  return value;
}

// 0x1F, 0b11, 0o17, 017, 15.
std::optional<uint64_t> UnsignedWithPrefix(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return Unsigned(text, 10);
  switch (text[1] | 0x20) {
    case 'x':
      return Unsigned(text.substr(2), 16);
    case 'b':
      return Unsigned(text.substr(2), 2);
    case 'o':
      return Unsigned(text.substr(2), 8);
    default:
      return Unsigned(text.substr(1), 8);
  }
}

// Parses an integer without underscores; nullopt if it is invalid or does not fit.
std::optional<Scalar> Integer(std::string_view text) {
  bool negative = text.starts_with('-');
  bool sign = negative || text.starts_with('+');
  std::optional<uint64_t> value = UnsignedWithPrefix(text.substr(sign ? 1 : 0));
  if (!value) return std::nullopt;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (*value <= kMax + (negative ? 1 : 0)) {
    auto integer = static_cast<int64_t>(negative ? 0 - *value : *value);
    return Scalar{.kind = Kind::kInt, .integer = integer};
  }
  if (sign) return std::nullopt;
  return Scalar{.kind = Kind::kUint, .unsigned_integer = *value};
}

// 0b-11: an extension of goyaml.
std::optional<Scalar> SignedBinary(std::string_view text) {
  if (!text.starts_with("0b-") && !text.starts_with("0b+")) return std::nullopt;
  std::optional<uint64_t> value = Unsigned(text.substr(3), 2);
  if (!value || *value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::nullopt;
  }
  auto integer = static_cast<int64_t>(*value);
  return Scalar{.kind = Kind::kInt, .integer = text[2] == '-' ? -integer : integer};
}

// [-+]? ( .digits | digits[.digits?] ) ( [eE][-+]?digits )?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  auto digits = [&] {
    size_t from = i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    return i - from;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  bool whole = digits() > 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (i < text.size() && (text[i] | 0x20) == 'e') {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// An overflow is not a number; an underflow is zero.
std::optional<Scalar> FloatOf(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::abs(value) > 1) return std::nullopt;
  }
  return Float(value);
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// Go's rule for numbers: each underscore must be between digits.
bool UnderscoresAreFine(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string_view Scalar::ShortTag() const {
  switch (kind) {
    case Kind::kNull:
      return "!!null";
    case Kind::kBool:
      return "!!bool";
    case Kind::kInt:
    case Kind::kUint:
      return "!!int";
    case Kind::kFloat:
      return "!!float";
    case Kind::kMerge:
    case Kind::kString:
    case Kind::kTimestamp:
      break;
  }
  return "!!str";
}

Scalar Resolve(std::string_view text) {
  if (text.size() <= kLongestWord && (text.empty() || kWordStarts.find(text[0]) != text.npos)) {
    for (const Word& word : kWords) {
      if (word.text == text) return word.meaning;
    }
  }
  char c = text.empty() ? '\0' : text[0];
  if (c == '.') {
    if (!UnderscoresAreFine(text)) return {};
    return FloatOf(WithoutUnderscores(text)).value_or(Scalar{});
  }
  if (!IsDigit(c) && c != '+' && c != '-') return {};
  if (IsTimestamp(text)) return {.kind = Kind::kTimestamp};
  std::string plain = WithoutUnderscores(text);
  if (auto integer = Integer(plain)) return *integer;
  if (auto number = FloatOf(plain)) return *number;
  return SignedBinary(plain).value_or(Scalar{});
}

// [-+]? digit [digit_]* ( : [0-5]? digit )+ ( . [digit_]* )?
bool IsBase60(std::string_view text) {
  size_t i = 0;
  auto at = [&] { return i < text.size() ? text[i] : '\0'; };
  if (at() == '-' || at() == '+') ++i;
  if (!IsDigit(at())) return false;
  while (IsDigit(at()) || at() == '_') ++i;
  if (at() != ':') return false;
  while (at() == ':') {
    ++i;
    if (!IsDigit(at())) return false;
    bool may_have_two = at() <= '5';
    ++i;
    if (may_have_two && IsDigit(at())) ++i;
  }
  if (at() == '.') {
    ++i;
    while (IsDigit(at()) || at() == '_') ++i;
  }
  return i == text.size();
}

std::string FormatG(double value, int bits, int first_exponent) {
  if (std::isnan(value)) return "NaN";
  if (bits == 32) value = static_cast<double>(static_cast<float>(value));
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  auto end = bits == 32 ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value),
                                        std::chars_format::scientific)
                        : std::to_chars(buffer, buffer + sizeof buffer, value,
                                        std::chars_format::scientific);
  std::string_view text(buffer, end.ptr - buffer);
  size_t e = text.find('e');
  int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  if (exponent < -4 || exponent >= first_exponent) return std::string(text);
  bool negative = text.starts_with('-');
  std::string digits;
  for (char c : text.substr(0, e)) {
    if (IsDigit(c)) digits.push_back(c);
  }
  std::string out = negative ? "-" : "";
  if (exponent < 0) {
    out += "0." + std::string(-exponent - 1, '0') + digits;
  } else if (static_cast<size_t>(exponent) + 1 >= digits.size()) {
    out += digits + std::string(exponent + 1 - digits.size(), '0');
  } else {
    out += digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
  }
  return out;
}

}  // namespace cox::yaml
