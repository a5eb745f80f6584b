// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/table.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

TEST(HumanDuration, ShowsSmallerUnitOnlyForSmallValues) {
  constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365 * kDay;
  const struct {
    int64_t seconds;
    std::string_view want;
  } kCases[] = {
      {-2, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {59, "59s"},
      {60, "60s"},
      {119, "119s"},
      {120, "2m"},
      {123, "2m3s"},
      {10 * kMinute - 1, "9m59s"},
      {10 * kMinute, "10m"},
      {3 * kHour - 1, "179m"},
      {3 * kHour, "3h"},
      {3 * kHour + 2 * kMinute, "3h2m"},
      {8 * kHour - 1, "7h59m"},
      {8 * kHour, "8h"},
      {2 * kDay - 1, "47h"},
      {2 * kDay, "2d"},
      {2 * kDay + kHour, "2d1h"},
      {8 * kDay - 1, "7d23h"},
      {8 * kDay, "8d"},
      {2 * kYear - 1, "729d"},
      {2 * kYear, "2y"},
      {2 * kYear + 3 * kDay, "2y3d"},
      {8 * kYear, "8y"},
      {100 * kYear + kDay, "100y"},
  };
  for (const auto& c : kCases) EXPECT_EQ(HumanDuration(c.seconds), c.want) << c.seconds;
}

TEST(Age, IsUnknownWithoutCreationTime) {
  const Time now = Time::FromUnix(1'000'000);
  EXPECT_EQ(Age(Time(), now), "<unknown>");
  EXPECT_EQ(Age(Time::FromUnix(999'995), now), "5s");
  EXPECT_EQ(Age(Time::FromUnix(1'000'010), now), "<invalid>");
}

}  // namespace
}  // namespace cox::apiserver
