// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/cron_schedule.h"

#include <gtest/gtest.h>

#include "apiserver/registry/kinds/batch/time_zones.h"

namespace cox::apiserver {
namespace {

constexpr uint64_t kAll60 = (uint64_t{1} << 60) - 1;
constexpr uint64_t kAll24 = (uint64_t{1} << 24) - 1;
constexpr uint64_t kAllDays = ((uint64_t{1} << 32) - 1) & ~uint64_t{1};
constexpr uint64_t kAllMonths = ((uint64_t{1} << 13) - 1) & ~uint64_t{1};
constexpr uint64_t kAllWeek = (uint64_t{1} << 7) - 1;

uint64_t Bits(std::initializer_list<int> numbers) {
  uint64_t bits = 0;
  for (int n : numbers) bits |= uint64_t{1} << n;
  return bits;
}

CronSchedule Any() {
  return {.minutes = kAll60,
          .hours = kAll24,
          .days_of_month = kAllDays,
          .months = kAllMonths,
          .days_of_week = kAllWeek,
          .any_day_of_month = true,
          .any_day_of_week = true};
}

TEST(CronSchedule, ParsesFields) {
  auto with = [](auto change) {
    CronSchedule schedule = Any();
    change(schedule);
    return schedule;
  };
  struct Case {
    std::string_view text;
    CronSchedule want;
  } const kCases[] = {
      {"* * * * *", Any()},
      {" *\t* * *   * ", Any()},
      {"? ? ? ? ?", Any()},
      {"*/20 * * * *", with([](CronSchedule& s) {
         s.minutes = Bits({0, 20, 40});
       })},
      {"50/4 * * * *", with([](CronSchedule& s) {
         s.minutes = Bits({50, 54, 58});
       })},
      {"1-5/2,+9 * * * *", with([](CronSchedule& s) {
         s.minutes = Bits({1, 3, 5, 9});
       })},
      {"* 23 * * *", with([](CronSchedule& s) { s.hours = Bits({23}); })},
      {"* * 1,31 * *", with([](CronSchedule& s) {
         s.days_of_month = Bits({1, 31});
         s.any_day_of_month = false;
       })},
      {"* * * Jan-mar *", with([](CronSchedule& s) {
         s.months = Bits({1, 2, 3});
       })},
      {"* * * * MON,wed", with([](CronSchedule& s) {
         s.days_of_week = Bits({1, 3});
         s.any_day_of_week = false;
       })},
      {"* * */1 * */2", with([](CronSchedule& s) {
         s.days_of_week = Bits({0, 2, 4, 6});
         s.any_day_of_week = false;
       })},
      {"0/4294967295 * * * *", with([](CronSchedule& s) { s.minutes = Bits({0}); })},
      {"TZ=Europe/Paris * * * * *", with([](CronSchedule& s) { s.time_zone = "Europe/Paris"; })},
  };
  for (const Case& c : kCases) {
    Result<CronSchedule> got = CronSchedule::Parse(c.text);
    ASSERT_TRUE(got.ok()) << c.text << ": " << got.status().message();
    EXPECT_EQ(*got, c.want) << c.text;
  }
}

TEST(CronSchedule, ParsesDescriptors) {
  struct Case {
    std::string_view text, fields;
  } const kCases[] = {
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
      {"@hourly", "0 * * * *"},
  };
  for (const Case& c : kCases) {
    ASSERT_TRUE(CronSchedule::Parse(c.text).ok()) << c.text;
    EXPECT_EQ(*CronSchedule::Parse(c.text), *CronSchedule::Parse(c.fields)) << c.text;
  }
  EXPECT_EQ(CronSchedule::Parse("@every 1h30m")->every, Duration::Seconds(5400));
  EXPECT_EQ(CronSchedule::Parse("@every 1500ms")->every, Duration::Seconds(1));
  EXPECT_EQ(CronSchedule::Parse("@every 1ms")->every, Duration::Seconds(1));
}

TEST(CronSchedule, ReportsErrors) {
  struct Case {
    std::string_view text, want;
  } const kCases[] = {
      {"", "empty spec string"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"a b c d e", R"(failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax)"},
      {"-5 * * * *", R"(failed to parse int from : strconv.Atoi: parsing "": invalid syntax)"},
      {"99999999999999999999 * * * *",
       "failed to parse int from 99999999999999999999: strconv.Atoi: parsing "
       R"("99999999999999999999": value out of range)"},
      {"* * * jan-foo *",
       R"(failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax)"},
      {"@nope", "unrecognized descriptor: @nope"},
      {"@every x", R"(failed to parse duration @every x: time: invalid duration "x")"},
      {"TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
      {"TZ=UTC", "expected exactly 5 fields, found 0: []"},
  };
  for (const Case& c : kCases) {
    Result<CronSchedule> got = CronSchedule::Parse(c.text);
    ASSERT_FALSE(got.ok()) << c.text;
    EXPECT_EQ(got.status().message(), c.want) << c.text;
  }
}

TEST(TimeZones, MatchExactNames) {
  for (std::string_view name :
       {"UTC", "Etc/UTC", "Europe/Paris", "America/Argentina/Ushuaia", "EST5EDT", "Asia/Kolkata"}) {
    EXPECT_TRUE(IsTimeZone(name)) << name;
  }
  for (std::string_view name :
       {"", "utc", " UTC", "Europe", "Europe/", "Local", "localtime", "../etc/passwd"}) {
    EXPECT_FALSE(IsTimeZone(name)) << name;
  }
}

}  // namespace
}  // namespace cox::apiserver
