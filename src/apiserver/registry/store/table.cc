// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/table.h"

namespace cox::apiserver {

std::string Age(const Time& created, const Time& now) {
  if (created.IsZero()) return "<unknown>";
  return HumanDuration(now.unix_seconds() - created.unix_seconds());
}

// At most two units; the smaller one is omitted for larger values.
std::string HumanDuration(int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kYear = 365 * kDay;
  auto pair = [](int64_t large, char large_unit, int64_t small, char small_unit) {
    std::string text = std::to_string(large) + large_unit;
    if (small != 0) text += std::to_string(small) + small_unit;
    return text;
  };
  if (seconds < 2 * kMinute) return std::to_string(seconds) + "s";
  if (seconds < 10 * kMinute) return pair(seconds / kMinute, 'm', seconds % kMinute, 's');
  if (seconds < 3 * kHour) return std::to_string(seconds / kMinute) + "m";
  if (seconds < 8 * kHour) return pair(seconds / kHour, 'h', seconds % kHour / kMinute, 'm');
  if (seconds < 2 * kDay) return std::to_string(seconds / kHour) + "h";
  if (seconds < 8 * kDay) return pair(seconds / kDay, 'd', seconds % kDay / kHour, 'h');
  if (seconds < 2 * kYear) return std::to_string(seconds / kDay) + "d";
  if (seconds < 8 * kYear) return pair(seconds / kYear, 'y', seconds % kYear / kDay, 'd');
  return std::to_string(seconds / kYear) + "y";
}

}  // namespace cox::apiserver
