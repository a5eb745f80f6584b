// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <limits>

#include "base/strings.h"
#include "object/scalar/time.h"
#include "object/scalar/time_text.h"

namespace cox {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 63;  // maximum + 1, because "-2^63ns" is valid

struct Unit {
  std::string_view name;
  uint64_t nanos;
};

// "µs" with the micro sign (U+00B5) and with the Greek letter (U+03BC).
constexpr std::array<Unit, 8> kUnits = {{
    {"ns", 1},
    {"us", 1'000},
    {"\xC2\xB5s", 1'000},
    {"\xCE\xBCs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

uint64_t UnitNanos(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  return 0;
}

Status Bad(std::string_view what, std::string_view text) {
  return Status::BadRequest("time: " + std::string(what) + " duration " + QuoteBytes(text));
}

// Parses digits; false if the number exceeds kLimit.
bool TakeWhole(std::string_view& rest, uint64_t& value) {
  value = 0;
  while (!rest.empty() && IsDigit(rest[0])) {
    if (value > kLimit / 10) return false;
    value = value * 10 + static_cast<uint64_t>(rest[0] - '0');
    if (value > kLimit) return false;
    rest.remove_prefix(1);
  }
  return true;
}

// Parses digits after the point as value/scale; digits beyond int64 are ignored.
void TakeFraction(std::string_view& rest, uint64_t& value, double& scale) {
  value = 0;
  scale = 1;
  bool full = false;
  for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1)) {
    if (full) continue;
    const uint64_t digit = static_cast<uint64_t>(rest[0] - '0');
    if (value > (kLimit - 1) / 10 || value * 10 + digit > kLimit) {
      full = true;
      continue;
    }
    value = value * 10 + digit;
    scale *= 10;
  }
}

}  // namespace

Result<Duration> Duration::Parse(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  if (rest == "0") return Duration{};
  if (rest.empty()) return Bad("invalid", text);

  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest[0] != '.' && !IsDigit(rest[0])) return Bad("invalid", text);
    const size_t before = rest.size();
    uint64_t whole = 0, fraction = 0;
    double scale = 1;
    if (!TakeWhole(rest, whole)) return Bad("invalid", text);
    bool has_digits = rest.size() != before;
    if (!rest.empty() && rest[0] == '.') {
      rest.remove_prefix(1);
      const size_t before_fraction = rest.size();
      TakeFraction(rest, fraction, scale);
      has_digits = has_digits || rest.size() != before_fraction;
    }
    if (!has_digits) return Bad("invalid", text);

    size_t n = 0;
    while (n < rest.size() && rest[n] != '.' && !IsDigit(rest[n])) ++n;
    if (n == 0) return Bad("missing unit in", text);
    const std::string_view name = rest.substr(0, n);
    const uint64_t unit = UnitNanos(name);
    if (unit == 0) return Bad("unknown unit " + QuoteBytes(name) + " in", text);
    rest.remove_prefix(n);

    if (whole > kLimit / unit) return Bad("invalid", text);
    whole *= unit;
    // Uses double like Go, so that the result is equal to the nanosecond.
    if (fraction > 0) {
      whole += static_cast<uint64_t>(static_cast<double>(fraction) *
                                     (static_cast<double>(unit) / scale));
    }
    if (whole > kLimit) return Bad("invalid", text);
    total += whole;  // both are at most 2^63: the sum wraps to zero only if both are 2^63
    if (total > kLimit || (total == 0 && whole != 0)) return Bad("invalid", text);
  }
  if (negative) return Duration{static_cast<int64_t>(-total)};
  if (total == kLimit) return Bad("invalid", text);
  return Duration{static_cast<int64_t>(total)};
}

std::string Duration::ToString() const { return FormatDuration(std::chrono::nanoseconds(nanos)); }

}  // namespace cox
