// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox {

// A duration in nanoseconds, printed as "1h15m30.918273645s".
//
// Threads: as a plain value.
struct Duration {
  int64_t nanos = 0;

  static constexpr Duration Nanoseconds(int64_t n) { return {n}; }
  static constexpr Duration Milliseconds(int64_t n) { return {n * 1'000'000}; }
  static constexpr Duration Seconds(int64_t n) { return {n * 1'000'000'000}; }

  // Parses "300ms", "-1.5h", "2h45m"; units ns, us (also with a micro sign), ms, s, m, h.
  // Errors: BadRequest with Go's texts if `text` is not a duration or exceeds int64.
  static Result<Duration> Parse(std::string_view text);
  // Omits leading zero units, "0s" for zero; Parse restores the exact value.
  std::string ToString() const;

  auto operator<=>(const Duration&) const = default;
};

// A point in time on the proleptic Gregorian calendar in UTC, with nanoseconds. The base class of
// Time and MicroTime.
//
// The zero value is the start of the year 1; its JSON is null.
class Instant {
 public:
  // 1970-01-01, in seconds since the zero value.
  static constexpr int64_t kUnixEpoch = 62'135'596'800;

  constexpr Instant() = default;
  constexpr bool IsZero() const { return seconds_ == 0 && nanos_ == 0; }
  constexpr int64_t unix_seconds() const { return seconds_ - kUnixEpoch; }
  constexpr int32_t nanos() const { return nanos_; }  // 0 .. 999'999'999
  // Saturated to int64 (years 1677 and 2262).
  int64_t UnixNanos() const;

  auto operator<=>(const Instant&) const = default;

 protected:
  constexpr Instant(int64_t unix_seconds, int32_t nanos)
      : seconds_((unix_seconds < kLatestUnix ? unix_seconds : kLatestUnix) + kUnixEpoch),
        nanos_(nanos) {}
  Instant Plus(Duration d) const;              // saturated
  Duration Minus(const Instant& other) const;  // saturated
  static Result<Instant> ParseLayout(std::string_view text, bool micro);

 private:
  // Protobuf input can contain any number of seconds; larger ones are replaced by this, so that
  // arithmetic does not overflow.
  static constexpr int64_t kLatestUnix = INT64_MAX - kUnixEpoch;

  int64_t seconds_ = 0;  // since the zero value
  int32_t nanos_ = 0;
};

// metav1.Time: printed as RFC 3339 in UTC in seconds ("2026-01-02T03:04:05Z").
//
// Guarantees: Parse accepts any offset and any fraction, which it keeps; ToString drops the
//   fraction.
// Threads: as a plain value. Errors: BadRequest with Go's texts.
class Time : public Instant {
 public:
  constexpr Time() = default;
  // REQUIRES: 0 <= nanos < 10^9
  static constexpr Time FromUnix(int64_t seconds, int32_t nanos = 0) { return {seconds, nanos}; }
  static Time FromUnixNanos(int64_t nanos);
  static Result<Time> Parse(std::string_view text);

  std::string ToString() const;  // never "null", even for zero

  // The same time without the fraction, as after a round trip through the API.
  constexpr Time Rfc3339Copy() const { return {unix_seconds(), 0}; }

  friend Time operator+(const Time& t, Duration d) { return Time(t.Plus(d)); }
  friend Duration operator-(const Time& a, const Time& b) { return a.Minus(b); }

 private:
  friend class MicroTime;
  constexpr Time(int64_t seconds, int32_t nanos) : Instant(seconds, nanos) {}
  constexpr explicit Time(const Instant& i) : Instant(i) {}
};

// metav1.MicroTime: like Time, printed with six fractional digits ("2026-01-02T03:04:05.000006Z").
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
