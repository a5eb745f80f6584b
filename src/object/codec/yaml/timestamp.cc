// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/timestamp.h"

#include <cstddef>

namespace cox::yaml {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Consumes parts from the front of a text.
class Parts {
 public:
  explicit Parts(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Parses a number of `least` to `most` digits; -1 if there is none.
  int Number(size_t least, size_t most) {
    int value = 0;
    size_t digits = 0;
    while (digits < most && digits < text_.size() && IsDigit(text_[digits])) {
      value = value * 10 + (text_[digits++] - '0');
    }
    if (digits < least) return -1;
    text_.remove_prefix(digits);
    return value;
  }
  // Consumes ".25" or ",5", if present.
  void Fraction() {
    if (text_.size() < 2 || (text_[0] != '.' && text_[0] != ',') || !IsDigit(text_[1])) return;
    text_.remove_prefix(1);
    while (!text_.empty() && IsDigit(text_[0])) text_.remove_prefix(1);
  }

 private:
  std::string_view text_;
};

bool DateExists(int year, int month, int day) {
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool TakeClock(Parts* parts) {
  int hour = parts->Number(1, 2);
  if (hour < 0 || hour > 23 || !parts->Take(':')) return false;
  int minute = parts->Number(1, 2);
  if (minute < 0 || minute > 59 || !parts->Take(':')) return false;
  int second = parts->Number(1, 2);
  if (second < 0 || second > 59) return false;
  parts->Fraction();
  return true;
}

bool TakeZone(Parts* parts) {
  if (parts->Take('Z')) return true;
  if (!parts->Take('+') && !parts->Take('-')) return false;
  int hours = parts->Number(2, 2);
  if (hours < 0 || hours > 24 || !parts->Take(':')) return false;
  int minutes = parts->Number(2, 2);
  return minutes >= 0 && minutes <= 60;
}

}  // namespace

bool IsTimestamp(std::string_view text) {
  Parts parts(text);
  int year = parts.Number(4, 4);
  if (year < 0 || !parts.Take('-')) return false;
  int month = parts.Number(1, 2);
  if (month < 0 || !parts.Take('-')) return false;
  if (!DateExists(year, month, parts.Number(1, 2))) return false;
  if (parts.done()) return true;
  if (parts.Take(' ')) return TakeClock(&parts) && parts.done();
  if (!parts.Take('T') && !parts.Take('t')) return false;
  return TakeClock(&parts) && TakeZone(&parts) && parts.done();
}

}  // namespace cox::yaml
