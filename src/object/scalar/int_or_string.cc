// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/int_or_string.h"

#include <charconv>
#include <limits>

#include "base/strings.h"

namespace cox {
namespace {

__extension__ using int128 = __int128;

enum class NumberError { kNone, kSyntax, kRange };

// Parses a decimal with an optional sign; saturates if out of range.
NumberError ParseInt(std::string_view text, int64_t& out) {
  out = 0;
  bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  if (plus) text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    out = 0;
    return NumberError::kSyntax;
  }
  if (error == std::errc::result_out_of_range) {
    out =
        text[0] == '-' ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    return NumberError::kRange;
  }
  return NumberError::kNone;
}

}  // namespace

IntOrString IntOrString::Parse(std::string_view text) {
  int64_t value = 0;
  if (ParseInt(text, value) == NumberError::kNone && value >= std::numeric_limits<int32_t>::min() &&
      value <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(value);
  }
  return text;
}

std::string IntOrString::ToString() const { return is_string_ ? string_ : std::to_string(int_); }

int64_t IntOrString::IntValue() const {
  if (!is_string_) return int_;
  int64_t value = 0;
  (void)ParseInt(string_, value);
  return value;
}

Result<int64_t> GetScaledValueFromIntOrPercent(const IntOrString& value, int64_t total,
                                               bool round_up) {
  if (!value.is_string()) return value.int_value();
  std::string_view text = value.string_value();
  if (!text.ends_with('%')) {
    return Status::BadRequest(
        "invalid value for IntOrString: invalid type: string is not a percentage");
  }
  std::string_view number = text.substr(0, text.size() - 1);
  int64_t percent = 0;
  if (NumberError error = ParseInt(number, percent); error != NumberError::kNone) {
    return Status::BadRequest(
        "invalid value for IntOrString: invalid value " + Quote(text) + ": strconv.Atoi: parsing " +
        Quote(number) +
        (error == NumberError::kRange ? ": value out of range" : ": invalid syntax"));
  }
  int128 hundredths = int128{percent} * total;
  int128 share = hundredths / 100;
  if (round_up && hundredths % 100 > 0) ++share;
  if (!round_up && hundredths % 100 < 0) --share;
  if (share > std::numeric_limits<int64_t>::max()) return std::numeric_limits<int64_t>::max();
  if (share < std::numeric_limits<int64_t>::min()) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(share);
}

}  // namespace cox
