// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "object/scalar/time.h"

namespace cox {
namespace {

TEST(Duration, ParsesLikeGo) {
  struct Case {
    std::string_view text;
    int64_t nanos;
    std::string_view error;
  };
  const Case kCases[] = {
      {"0", 0, ""},
      {"0s", 0, ""},
      {"1", 0, "time: missing unit in duration \"1\""},
      {"", 0, "time: invalid duration \"\""},
      {"-", 0, "time: invalid duration \"-\""},
      {"+", 0, "time: invalid duration \"+\""},
      {"5s", 5000000000, ""},
      {"-5s", -5000000000, ""},
      {"+5s", 5000000000, ""},
      {"1h", 3600000000000, ""},
      {"1h15m30.918273645s", 4530918273645, ""},
      {"1.5h", 5400000000000, ""},
      {".5s", 500000000, ""},
      {"5.s", 5000000000, ""},
      {".s", 0, "time: invalid duration \".s\""},
      {"1x", 0, "time: unknown unit \"x\" in duration \"1x\""},
      {"1sx", 0, "time: unknown unit \"sx\" in duration \"1sx\""},
      {"1s1", 0, "time: missing unit in duration \"1s1\""},
      {"1ms", 1000000, ""},
      {"1us", 1000, ""},
      {"1\302\265s", 1000, ""},
      {"1\316\274s", 1000, ""},
      {"1ns", 1, ""},
      {"1.0000000001s", 1000000000, ""},
      {"9223372036854775807ns", 9223372036854775807, ""},
      {"9223372036854775808ns", 0, "time: invalid duration \"9223372036854775808ns\""},
      {"-9223372036854775808ns", INT64_MIN, ""},
      {"-9223372036854775809ns", 0, "time: invalid duration \"-9223372036854775809ns\""},
      {"2562047h47m16.854775807s", 9223372036854775807, ""},
      {"2562047h47m16.854775808s", 0, "time: invalid duration \"2562047h47m16.854775808s\""},
      {"-2562047h47m16.854775808s", INT64_MIN, ""},
      {"3000000h", 0, "time: invalid duration \"3000000h\""},
      {"99999999999999999999s", 0, "time: invalid duration \"99999999999999999999s\""},
      {"1h1h", 7200000000000, ""},
      {"1d", 0, "time: unknown unit \"d\" in duration \"1d\""},
      {" 1s", 0, "time: invalid duration \" 1s\""},
      {"1s ", 0, "time: unknown unit \"s \" in duration \"1s \""},
      {"1 s", 0, "time: unknown unit \" s\" in duration \"1 s\""},
      {"0.100000000000000000000h", 360000000000, ""},
      {"0.3333333333333333333h", 1200000000000, ""},
      {"-.5m", -30000000000, ""},
      {"--1s", 0, "time: invalid duration \"--1s\""},
      {"1e3s", 0, "time: unknown unit \"e\" in duration \"1e3s\""},
      {"1m-1s", 0, "time: unknown unit \"m-\" in duration \"1m-1s\""},
      {"9223372036.854775807s", 9223372036854775807, ""},
      {"1\377", 0, "time: unknown unit \"\\xff\" in duration \"1\\xff\""},
      {"..5s", 0, "time: invalid duration \"..5s\""},
      {"1..5s", 0, "time: missing unit in duration \"1..5s\""},
      {"0.9223372036854775807h", 3320413933267, ""},
      {"\"1s", 0, "time: invalid duration \"\\\"1s\""},
      {"1\302\265", 0, "time: unknown unit \"\\xc2\\xb5\" in duration \"1\\xc2\\xb5\""},
      {"9223372036854775808ns9223372036854775808ns", 0,
       "time: invalid duration \"9223372036854775808ns9223372036854775808ns\""},
  };
  for (const Case& c : kCases) {
    Result<Duration> d = Duration::Parse(c.text);
    EXPECT_EQ(d.ok() ? "" : d.status().message(), c.error) << c.text;
    EXPECT_EQ(d.value_or(Duration{}).nanos, c.nanos) << c.text;
  }
}

TEST(Duration, PrintsLikeGoAndRoundTrips) {
  struct Case {
    int64_t nanos;
    std::string_view text;
  };
  const Case kCases[] = {
      {0, "0s"},
      {1, "1ns"},
      {-1, "-1ns"},
      {999, "999ns"},
      {1000, "1\302\265s"},
      {1001, "1.001\302\265s"},
      {1100, "1.1\302\265s"},
      {999999, "999.999\302\265s"},
      {1000000, "1ms"},
      {1500000, "1.5ms"},
      {999999999, "999.999999ms"},
      {1000000000, "1s"},
      {1500000000, "1.5s"},
      {59999999999, "59.999999999s"},
      {60000000000, "1m0s"},
      {61000000000, "1m1s"},
      {3599000000000, "59m59s"},
      {3600000000000, "1h0m0s"},
      {3600000000001, "1h0m0.000000001s"},
      {9223372036854775807, "2562047h47m16.854775807s"},
      {INT64_MIN, "-2562047h47m16.854775808s"},
      {-1500, "-1.5\302\265s"},
      {90061001001001, "25h1m1.001001001s"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Duration{c.nanos}.ToString(), c.text);
    EXPECT_EQ(Duration::Parse(c.text).value(), Duration{c.nanos}) << c.text;
  }
}

}  // namespace
}  // namespace cox
