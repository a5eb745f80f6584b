// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "object/scalar/time.h"
#include "object/scalar/time_text.h"

namespace cox {
namespace {

// Parses an RFC 3339 time from left to right. After the first error, further calls do nothing.
class TimeReader {
 public:
  TimeReader(std::string_view text, bool micro) : text_(text), rest_(text), micro_(micro) {}

  const Status& status() const { return status_; }

  void Literal(std::string_view literal) {
    if (!status_.ok()) return;
    if (!rest_.starts_with(literal)) return CannotParse(rest_, literal);
    rest_.remove_prefix(literal.size());
  }

  // Exactly `digits` digits, except that the hour ("15") may have one.
  int Number(std::string_view element, size_t digits, int low, int high, std::string_view name) {
    if (!status_.ok()) return 0;
    size_t n = 0;
    int value = 0;
    for (; n < digits && n < rest_.size() && IsDigit(rest_[n]); ++n)
      value = value * 10 + (rest_[n] - '0');
    if (n < digits && !(n == 1 && element == "15")) {
      CannotParse(rest_, element);
      return 0;
    }
    rest_.remove_prefix(n);
    if (value < low || value > high) OutOfRange(name);
    return value;
  }

  // Time accepts any fraction or none, MicroTime exactly six digits. The separator is '.' or ',';
  // digits after the ninth are ignored.
  int32_t Fraction() {
    if (!status_.ok()) return 0;
    size_t n = 1;
    if (!rest_.empty() && (rest_[0] == '.' || rest_[0] == ',')) {
      while (n < rest_.size() && IsDigit(rest_[n]) && (!micro_ || n < 7)) ++n;
    }
    if (micro_ && n < 7) {
      CannotParse(rest_, ".000000");
      return 0;
    }
    if (n == 1) return 0;
    int32_t nanos = 0;
    for (size_t i = 1; i <= 9; ++i) nanos = nanos * 10 + (i < n ? rest_[i] - '0' : 0);
    rest_.remove_prefix(n);
    return nanos;
  }

  // Seconds east of UTC. Like upstream, accepts offsets up to 24:60.
  int Offset() {
    if (!status_.ok()) return 0;
    if (rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      return 0;
    }
    const std::string_view at = rest_;
    if (at.size() < 6 || at[3] != ':' || !IsDigit(at[1]) || !IsDigit(at[2]) || !IsDigit(at[4]) ||
        !IsDigit(at[5])) {
      CannotParse(at, "Z07:00");
      return 0;
    }
    const int hours = (at[1] - '0') * 10 + (at[2] - '0');
    const int minutes = (at[4] - '0') * 10 + (at[5] - '0');
    rest_.remove_prefix(6);
    if (minutes > 60) {
      OutOfRange("time zone offset minute");
    } else if (hours > 24) {
      OutOfRange("time zone offset hour");
    } else if (at[0] != '+' && at[0] != '-') {
      CannotParse(at, "Z07:00");
    }
    return (hours * 60 + minutes) * (at[0] == '-' ? -60 : 60);
  }

  void End() {
    if (status_.ok() && !rest_.empty()) Fail(": extra text: " + QuoteBytes(rest_));
  }

  void OutOfRange(std::string_view name) {
    if (status_.ok()) Fail(": " + std::string(name) + " out of range");
  }

 private:
  void CannotParse(std::string_view at, std::string_view element) {
    Fail(std::string(" as \"2006-01-02T15:04:05") + (micro_ ? ".000000" : "") +
         "Z07:00\": cannot parse " + QuoteBytes(at) + " as " + QuoteBytes(element));
  }
  void Fail(const std::string& what) {
    status_ = Status::BadRequest("parsing time " + QuoteBytes(text_) + what);
  }

  const std::string_view text_;
  std::string_view rest_;
  const bool micro_;
  Status status_;
};

}  // namespace

Result<Instant> Instant::ParseLayout(std::string_view text, bool micro) {
  TimeReader in(text, micro);
  const int year = in.Number("2006", 4, 0, 9999, "year");
  in.Literal("-");
  const int month = in.Number("01", 2, 1, 12, "month");
  in.Literal("-");
  const int day = in.Number("02", 2, 0, 99, "day");  // checked below, when the month is known
  in.Literal("T");
  const int hour = in.Number("15", 2, 0, 23, "hour");
  in.Literal(":");
  const int minute = in.Number("04", 2, 0, 59, "minute");
  in.Literal(":");
  const int second = in.Number("05", 2, 0, 59, "second");
  const int32_t nanos = in.Fraction();
  const int offset = in.Offset();
  in.End();

  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) in.OutOfRange("day");
  if (!in.status().ok()) return in.status();
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return Instant(days * 86'400 + hour * 3600 + minute * 60 + second - offset, nanos);
}

}  // namespace cox
