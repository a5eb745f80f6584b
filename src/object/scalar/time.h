// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox {

// A length of time in nanoseconds, written "1h15m30.918273645s".
//
// Threads: as a plain value.
struct Duration {
  int64_t nanos = 0;

  static constexpr Duration Nanoseconds(int64_t n) { return {n}; }
  static constexpr Duration Milliseconds(int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration Seconds(int64_t n) { return {n * 1'000'000'000}; }

  // "300ms", "-1.5h", "2h45m"; units ns, us (also with a micro sign), ms, s, m, h. BadRequest with
  // Go's texts when `text` is none, or leaves int64.
  static Result<Duration> Parse(std::string_view text);
  // No unit that would be zero in front, "0s" for zero; Parse reads it back exactly.
  std::string ToString() const;

  auto operator<=>(const Duration&) const = default;
};

// An instant on the proleptic Gregorian calendar in UTC, with nanoseconds. What Time and MicroTime
// share.
//
// The zero value is the start of the year 1; the API writes it as null and reads null as it.
class Instant {
 public:
  // Of 1970-01-01, counted in seconds since the zero value.
  static constexpr int64_t kUnixEpoch = 62'135'596'800;

  constexpr Instant() = default;
  constexpr bool IsZero() const { return seconds_ == 0 && nanos_ == 0; }
  constexpr int64_t unix_seconds() const { return seconds_ - kUnixEpoch; }
  constexpr int32_t nanos() const { return nanos_; }  // 0 .. 999'999'999
  // Saturates at the ends of int64 (years 1677 and 2262).
  int64_t UnixNanos() const;

  auto operator<=>(const Instant&) const = default;

 protected:
  constexpr Instant(int64_t unix_seconds, int32_t nanos)
      : seconds_((unix_seconds < kLatestUnix ? unix_seconds : kLatestUnix) + kUnixEpoch),
        nanos_(nanos) {}
  Instant Plus(Duration d) const;              // saturates
  Duration Minus(const Instant& other) const;  // saturates
  static Result<Instant> ParseLayout(std::string_view text, bool micro);

 private:
  // Seconds from the wire can be any; those after this one become it, so that no arithmetic
  // overflows.
  static constexpr int64_t kLatestUnix = INT64_MAX - kUnixEpoch;

  int64_t seconds_ = 0;  // since the zero value
  int32_t nanos_ = 0;
};

// metav1.Time: written as RFC 3339 in UTC to the second ("2026-01-02T03:04:05Z").
//
// Guarantees: Parse takes any offset and any fraction, which it keeps; ToString drops the fraction.
// Threads: as a plain value. Errors: BadRequest with Go's texts.
class Time : public Instant {
 public:
  constexpr Time() = default;
  // REQUIRES: 0 <= nanos < 10^9
  static constexpr Time FromUnix(int64_t seconds, int32_t nanos = 0) { return {seconds, nanos}; }
  static Time FromUnixNanos(int64_t nanos);
  static Result<Time> Parse(std::string_view text);

  std::string ToString() const;  // never "null", also for zero

  // The same instant without the fraction: what is left after a round trip through the API.
  constexpr Time Rfc3339Copy() const { return {unix_seconds(), 0}; }

  friend Time operator+(const Time& t, Duration d) { return Time(t.Plus(d)); }
  friend Duration operator-(const Time& a, const Time& b) { return a.Minus(b); }

 private:
  friend class MicroTime;
  constexpr Time(int64_t seconds, int32_t nanos) : Instant(seconds, nanos) {}
  constexpr explicit Time(const Instant& i) : Instant(i) {}
};

// metav1.MicroTime: as Time, written with six digits of fraction ("2026-01-02T03:04:05.000006Z").
class MicroTime : public Instant {
 public:
  constexpr MicroTime() = default;
  constexpr explicit MicroTime(const Time& t) : Instant(t) {}
  static constexpr MicroTime FromUnix(int64_t seconds, int32_t nanos = 0) {
    return {seconds, nanos};
  }
  static MicroTime FromUnixNanos(int64_t nanos);
  static Result<MicroTime> Parse(std::string_view text);

  std::string ToString() const;
  constexpr Time ToTime() const { return Time(*this); }

  friend MicroTime operator+(const MicroTime& t, Duration d) { return MicroTime(t.Plus(d)); }
  friend Duration operator-(const MicroTime& a, const MicroTime& b) { return a.Minus(b); }

 private:
  constexpr MicroTime(int64_t seconds, int32_t nanos) : Instant(seconds, nanos) {}
  constexpr explicit MicroTime(const Instant& i) : Instant(i) {}
};

}  // namespace cox
