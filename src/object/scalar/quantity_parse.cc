// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "object/scalar/big_uint.h"
#include "object/scalar/quantity.h"

namespace cox {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The parts of the text; all borrow from it.
struct Parts {
  bool negative = false;
  std::string_view whole;     // without leading zeros
  std::string_view fraction;  // unchanged
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& rest) {
  size_t n = 0;
  while (n < rest.size() && IsDigit(rest[n])) ++n;
  std::string_view digits = rest.substr(0, n);
  rest.remove_prefix(n);
  return digits;
}

// False if the text does not match [+-] digits [. digits] letters [+-] digits. Each part may be
// empty (upstream parses "m" and "." as zero), but not all.
bool Cut(std::string_view text, Parts& parts) {
  if (text.empty()) return false;
  std::string_view rest = text;
  if (rest[0] == '+' || rest[0] == '-') {
    parts.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  parts.whole = TakeDigits(rest);
  while (!parts.whole.empty() && parts.whole[0] == '0') parts.whole.remove_prefix(1);
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    parts.fraction = TakeDigits(rest);
  }
  parts.suffix = rest;
  while (!rest.empty() &&
         std::string_view("eEinumkKMGTP").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) rest.remove_prefix(1);
  TakeDigits(rest);
  return rest.empty();
}

struct Suffix {
  std::string_view text;
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int32_t exponent = 0;  // of 2 for binary suffixes, else of 10
};

constexpr std::array<Suffix, 16> kSuffixes = {{
    {"", Quantity::Format::kDecimalSI, 0},
    {"m", Quantity::Format::kDecimalSI, -3},
    {"Ki", Quantity::Format::kBinarySI, 10},
    {"Mi", Quantity::Format::kBinarySI, 20},
    {"Gi", Quantity::Format::kBinarySI, 30},
    {"Ti", Quantity::Format::kBinarySI, 40},
    {"Pi", Quantity::Format::kBinarySI, 50},
    {"Ei", Quantity::Format::kBinarySI, 60},
    {"n", Quantity::Format::kDecimalSI, -9},
    {"u", Quantity::Format::kDecimalSI, -6},
    {"k", Quantity::Format::kDecimalSI, 3},
    {"M", Quantity::Format::kDecimalSI, 6},
    {"G", Quantity::Format::kDecimalSI, 9},
    {"T", Quantity::Format::kDecimalSI, 12},
    {"P", Quantity::Format::kDecimalSI, 15},
    {"E", Quantity::Format::kDecimalSI, 18},
}};

// Upstream wraps exponents beyond int32 around; here they are invalid suffixes.
bool Interpret(std::string_view text, Suffix& out) {
  for (const Suffix& known : kSuffixes) {
    if (known.text == text) {
      out = known;
      return true;
    }
  }
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  out.format = Quantity::Format::kDecimalExponent;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.exponent);
  return error == std::errc() && end == text.data() + text.size();
}

// Whether upstream prints the text unchanged: it does so if a cheap test shows that the number is
// canonical; the number must be short enough to be certainly within int64.
bool KeepsSpelling(const Parts& parts, const Suffix& suffix, int64_t mantissa) {
  if (!parts.fraction.empty() || parts.whole.empty()) return false;
  const int digits = static_cast<int>(parts.whole.size());
  if (suffix.format == Quantity::Format::kBinarySI) {
    return digits + suffix.exponent * 3 / 10 <= 14 && (mantissa >> suffix.exponent) % 8 != 0;
  }
  return digits <= 18 && suffix.exponent % 3 == 0 && suffix.exponent >= Quantity::kNano &&
         mantissa % 1000 != 0;
}

// A fast path for common forms, integers with a common unit ("2", "500m", "64Mi"), without the
// allocations of the general parser. Nullopt for all others.
std::optional<Quantity> ParsePlain(std::string_view text) {
  constexpr size_t kMaxDigits = 15;
  size_t digits = 0;
  int64_t value = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits == kMaxDigits) return std::nullopt;
    value = value * 10 + (text[digits] - '0');
  }
  if (digits == 0 || text[0] == '0') return std::nullopt;
  std::string_view unit = text.substr(digits);
  if (unit.empty()) return Quantity(value);
  constexpr std::string_view kDecimal = "num.kMG";  // 10^-9, 10^-6, ...; the dot means no suffix
  if (size_t at = kDecimal.find(unit[0]);
      unit.size() == 1 && unit != "." && at != std::string_view::npos) {
    return Quantity::Scaled(value, Quantity::kNano + 3 * static_cast<int32_t>(at));
  }
  constexpr std::string_view kBinary = "KMGT";
  size_t at = kBinary.find(unit[0]);
  if (unit.size() != 2 || unit[1] != 'i' || at == std::string_view::npos) return std::nullopt;
  const int shift = 10 * (static_cast<int>(at) + 1);
  if (value > std::numeric_limits<int64_t>::max() >> shift) return std::nullopt;
  return Quantity(value << shift, Quantity::Format::kBinarySI);
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (std::optional<Quantity> plain = ParsePlain(text)) return *std::move(plain);
  Parts parts;
  if (!Cut(text, parts)) {
    return Status::BadRequest(
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  Suffix suffix;
  if (!Interpret(parts.suffix, suffix)) {
    return Status::BadRequest("unable to parse quantity's suffix");
  }

  std::string digits(parts.whole);
  digits.append(parts.fraction);
  BigUint magnitude(digits);
  int64_t scale = -static_cast<int64_t>(parts.fraction.size());
  const bool binary = suffix.format == Format::kBinarySI;
  if (binary) {
    for (int32_t bits = suffix.exponent; bits > 0; bits -= 10) magnitude.MulSmall(1024);
  } else {
    scale += suffix.exponent;
  }
  if (scale < kNano) {
    magnitude.CeilDivPow10(static_cast<size_t>(kNano - scale));
    scale = kNano;
  }
  if (magnitude.IsZero()) return Quantity(0, suffix.format);

  Quantity q =
      Make(parts.negative, std::move(magnitude), static_cast<int32_t>(scale), suffix.format);
  if (binary) {
    constexpr int64_t kCap = std::numeric_limits<int64_t>::max();
    Quantity size = q;
    if (size.Sign() < 0) size.Neg();
    if (size > Quantity(kCap)) {
      q = Quantity(parts.negative ? -kCap : kCap, suffix.format);
    } else if (size < Quantity(1)) {
      q.format_ = Format::kDecimalSI;
    }
  }
  if (!q.is_big() && KeepsSpelling(parts, suffix, q.mantissa_) && q.ToString() != text) {
    q.KeepSpelling(text);
  }
  return q;
}

}  // namespace cox
