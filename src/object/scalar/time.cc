// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/time.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

namespace cox {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int32_t kNanosPerSecond = 1'000'000'000;

// Quotient and remainder, rounded down: the remainder is never negative.
int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t FloorMod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

// Zero-padded to `width`; the sign does not count.
void AppendPadded(std::string& out, int64_t value, size_t width) {
  if (value < 0) out += '-';
  std::string digits = std::to_string(std::abs(value));
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

Duration Saturated(bool negative) {
  return {negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max()};
}

struct CivilDay {
  int64_t year;
  unsigned month, day;
};

// std::chrono ends at the year 32767; the calendar repeats every 400 years, so compute these eras
// separately.
CivilDay ToCivil(int64_t unix_days) {
  constexpr int64_t kEraDays = 146'097;
  const int64_t era = FloorDiv(unix_days, kEraDays);
  const year_month_day ymd(sys_days(days(FloorMod(unix_days, kEraDays))));
  return {int{ymd.year()} + era * 400, unsigned{ymd.month()}, unsigned{ymd.day()}};
}

// "2026-01-02T03:04:05", UTC.
std::string FormatSeconds(int64_t unix_seconds) {
  const int64_t day = FloorDiv(unix_seconds, kSecondsPerDay);
  const int64_t second = FloorMod(unix_seconds, kSecondsPerDay);
  const CivilDay civil = ToCivil(day);
  std::string out;
  out.reserve(32);
  AppendPadded(out, civil.year, 4);
  out += '-';
  AppendPadded(out, civil.month, 2);
  out += '-';
  AppendPadded(out, civil.day, 2);
  out += 'T';
  AppendPadded(out, second / 3600, 2);
  out += ':';
  AppendPadded(out, second / 60 % 60, 2);
  out += ':';
  AppendPadded(out, second % 60, 2);
  return out;
}

}  // namespace

int64_t Instant::UnixNanos() const { return Minus(Instant(0, 0)).nanos; }

Instant Instant::Plus(Duration d) const {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min() + kUnixEpoch;
  const int64_t nanos = nanos_ + FloorMod(d.nanos, kNanosPerSecond);
  const int64_t step = FloorDiv(d.nanos, kNanosPerSecond) + nanos / kNanosPerSecond;
  Instant sum;
  sum.nanos_ = static_cast<int32_t>(nanos % kNanosPerSecond);
  if (__builtin_add_overflow(seconds_, step, &sum.seconds_)) {
    sum.seconds_ = step < 0 ? kEarliest : kLatest;
  }
  sum.seconds_ = std::max(sum.seconds_, kEarliest);
  return sum;
}

Duration Instant::Minus(const Instant& other) const {
  int64_t nanos = 0;
  // The difference of the seconds, moved by one towards zero, so that the product does not overflow
  // if the fraction brings the result back into range.
  int64_t seconds = 0;
  if (__builtin_sub_overflow(seconds_, other.seconds_, &seconds)) return Saturated(*this < other);
  int64_t fraction = int64_t{nanos_} - other.nanos_;
  if (seconds < 0) {
    ++seconds;
    fraction -= kNanosPerSecond;
  } else if (seconds > 0) {
    --seconds;
    fraction += kNanosPerSecond;
  }
  if (__builtin_mul_overflow(seconds, int64_t{kNanosPerSecond}, &nanos) ||
      __builtin_add_overflow(nanos, fraction, &nanos)) {
    return Saturated(*this < other);
  }
  return {nanos};
}

Time Time::FromUnixNanos(int64_t nanos) {
  return {FloorDiv(nanos, kNanosPerSecond), static_cast<int32_t>(FloorMod(nanos, kNanosPerSecond))};
}

Result<Time> Time::Parse(std::string_view text) {
  COX_ASSIGN_OR_RETURN(Instant instant, ParseLayout(text, false));
  return Time(instant);
}

std::string Time::ToString() const { return FormatSeconds(unix_seconds()) + "Z"; }

MicroTime MicroTime::FromUnixNanos(int64_t nanos) { return MicroTime(Time::FromUnixNanos(nanos)); }

Result<MicroTime> MicroTime::Parse(std::string_view text) {
  COX_ASSIGN_OR_RETURN(Instant instant, ParseLayout(text, true));
  return MicroTime(instant);
}

std::string MicroTime::ToString() const {
  std::string out = FormatSeconds(unix_seconds());
  out += '.';
  AppendPadded(out, nanos() / 1000, 6);
  out += 'Z';
  return out;
}

}  // namespace cox
