// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/time.h"

#include <gtest/gtest.h>

#include <limits>

namespace cox {
namespace {

struct Good {
  std::string_view text;
  int64_t seconds;
  int32_t nanos;
  std::string_view written;
};

// The message is `parsing time "<text>"`, followed by `error` or by the layout and the part that
// does not match.
struct Bad {
  std::string_view text, rest, element, error;
};

std::string Ending(const Bad& c, std::string_view layout) {
  if (!c.error.empty()) return std::string(c.error);
  std::string out = " as \"";
  return out.append(layout)
             .append("\": cannot parse \"")
             .append(c.rest)
             .append("\" as \"")
             .append(c.element) +
         "\"";
}

TEST(Time, ParsesRfc3339) {
  const Good kCases[] = {
      {"2026-01-02T03:04:05Z", 1767323045, 0, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05+02:00", 1767315845, 0, "2026-01-02T01:04:05Z"},
      {"2026-01-02T03:04:05-07:30", 1767350045, 0, "2026-01-02T10:34:05Z"},
      {"2026-01-02T03:04:05.5Z", 1767323045, 500000000, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05,5Z", 1767323045, 500000000, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.123456789Z", 1767323045, 123456789, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.1234567899Z", 1767323045, 123456789, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.123456Z", 1767323045, 123456000, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.1234567Z", 1767323045, 123456700, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.12345Z", 1767323045, 123450000, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.123456+05:30", 1767303245, 123456000, "2026-01-01T21:34:05Z"},
      {"2024-02-29T03:04:05Z", 1709175845, 0, "2024-02-29T03:04:05Z"},
      {"2000-02-29T00:00:00Z", 951782400, 0, "2000-02-29T00:00:00Z"},
      {"2026-01-02T3:04:05Z", 1767323045, 0, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05+24:00", 1767236645, 0, "2026-01-01T03:04:05Z"},
      {"2026-01-02T03:04:05+23:59", 1767236705, 0, "2026-01-01T03:05:05Z"},
      {"2026-01-02T03:04:05+23:60", 1767236645, 0, "2026-01-01T03:04:05Z"},
      {"0001-01-01T00:00:00Z", -62135596800, 0, "0001-01-01T00:00:00Z"},
      {"0000-01-01T00:00:00Z", -62167219200, 0, "0000-01-01T00:00:00Z"},
      {"0000-12-31T23:59:59Z", -62135596801, 0, "0000-12-31T23:59:59Z"},
      {"0001-01-01T00:00:00+01:00", -62135600400, 0, "0000-12-31T23:00:00Z"},
      {"9999-12-31T23:59:59Z", 253402300799, 0, "9999-12-31T23:59:59Z"},
      {"9999-12-31T23:59:59-01:00", 253402304399, 0, "10000-01-01T00:59:59Z"},
      {"1969-12-31T23:59:59Z", -1, 0, "1969-12-31T23:59:59Z"},
      {"1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z"},
      {"2026-01-02T03:04:05-00:00", 1767323045, 0, "2026-01-02T03:04:05Z"},
      {"2026-01-02T03:04:05.123456789012345678901234567890Z", 1767323045, 123456789,
       "2026-01-02T03:04:05Z"},
  };
  for (const Good& c : kCases) {
    Result<Time> t = Time::Parse(c.text);
    ASSERT_TRUE(t.ok()) << t.status().ToString();
    EXPECT_EQ(t->unix_seconds(), c.seconds) << c.text;
    EXPECT_EQ(t->nanos(), c.nanos) << c.text;
    EXPECT_EQ(t->ToString(), c.written) << c.text;
  }
}

TEST(Time, ParseErrorsMatchGo) {
  const Bad kCases[] = {
      {"2026-01-02T03:04:05z", "z", "Z07:00", ""},
      {"2026-01-02t03:04:05Z", "t03:04:05Z", "T", ""},
      {"2026-01-02 03:04:05Z", " 03:04:05Z", "T", ""},
      {"2026-01-02T03:04:05.Z", ".Z", "Z07:00", ""},
      {"2026-01-02T03:04:05.123456x", "x", "Z07:00", ""},
      {"", "", "2006", ""},
      {"abc", "abc", "2006", ""},
      {"2026", "", "-", ""},
      {"2026-", "", "01", ""},
      {"2026-13-02T03:04:05Z", "", "", ": month out of range"},
      {"2026-00-02T03:04:05Z", "", "", ": month out of range"},
      {"2026-1-02T03:04:05Z", "1-02T03:04:05Z", "01", ""},
      {"2026-02-29T03:04:05Z", "", "", ": day out of range"},
      {"2100-02-29T00:00:00Z", "", "", ": day out of range"},
      {"2026-02-30T03:04:05Z", "", "", ": day out of range"},
      {"2026-01-32T03:04:05Z", "", "", ": day out of range"},
      {"2026-01-00T03:04:05Z", "", "", ": day out of range"},
      {"2026-01-99T03:04:05Z", "", "", ": day out of range"},
      {"2026-01-2T03:04:05Z", "2T03:04:05Z", "02", ""},
      {"2026-01-02T24:00:00Z", "", "", ": hour out of range"},
      {"2026-01-02T23:60:00Z", "", "", ": minute out of range"},
      {"2026-01-02T23:59:60Z", "", "", ": second out of range"},
      {"2026-01-02T03:4:05Z", "4:05Z", "04", ""},
      {"2026-01-02T03:04:5Z", "5Z", "05", ""},
      {"2026-01-02T03:04:05", "", "Z07:00", ""},
      {"2026-01-02T03:04:05ZZ", "", "", ": extra text: \"Z\""},
      {"2026-01-02T03:04:05Z ", "", "", ": extra text: \" \""},
      {"2026-01-02T03:04:05+25:00", "", "", ": time zone offset hour out of range"},
      {"2026-01-02T03:04:05+00:61", "", "", ": time zone offset minute out of range"},
      {"2026-01-02T03:04:05+0200", "+0200", "Z07:00", ""},
      {"2026-01-02T03:04:05+02", "+02", "Z07:00", ""},
      {"2026-01-02T03:04:05+2:00", "+2:00", "Z07:00", ""},
      {"2026-01-02T03:04:05+02:0a", "+02:0a", "Z07:00", ""},
      {"2026-01-02T03:04:05x02:00", "x02:00", "Z07:00", ""},
      {"2026-01-02T03:04:05 Z", " Z", "Z07:00", ""},
      {"10000-01-01T00:00:00Z", "0-01-01T00:00:00Z", "-", ""},
      {"-001-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "2006", ""},
      {"20x6-01-02T03:04:05Z", "20x6-01-02T03:04:05Z", "2006", ""},
      {"2026/01/02T03:04:05Z", "/01/02T03:04:05Z", "-", ""},
      {"2026-01-02T", "", "15", ""},
      {"2026-01-02T03", "", ":", ""},
      {"2026-01-02T03:04", "", ":", ""},
      {"2026-01-02T03:04:", "", "05", ""},
      {"2026-01-02T03:04:0", "0", "05", ""},
      {"2026-01-02T03:04:05.", ".", "Z07:00", ""},
      {"2026-01-02T03:04:05.x", ".x", "Z07:00", ""},
      {"2026-aa-02T03:04:05Z", "aa-02T03:04:05Z", "01", ""},
      {"2026-01-aaT03:04:05Z", "aaT03:04:05Z", "02", ""},
      {"2026-01-02Taa:04:05Z", "aa:04:05Z", "15", ""},
      {"2026-01-02T03:aa:05Z", "aa:05Z", "04", ""},
      {"2026-01-02T03:04:aaZ", "aaZ", "05", ""},
      {"2026-01-02T03:04:05+aa:00", "+aa:00", "Z07:00", ""},
      {" 2026-01-02T03:04:05Z", " 2026-01-02T03:04:05Z", "2006", ""},
      {"2026-01-02T03:04:05Z\"", "", "", "\": extra text: \"\\\"\""},
      {"2026-04-31T00:00:00Z", "", "", ": day out of range"},
      {"2026-01-02T03:04:05+0a:00", "+0a:00", "Z07:00", ""},
      {"2026-01-02T03:04:05+00-00", "+00-00", "Z07:00", ""},
      {"2026-01-02T99:00:00Z", "", "", ": hour out of range"},
      {"2026-01-02T03:04:05.123456 Z", " Z", "Z07:00", ""},
      {"2026-01- 2T03:04:05Z", " 2T03:04:05Z", "02", ""},
      {"\012", "\\x0a", "2006", ""},
      {"\357\274\222026-01-02T03:04:05Z", "\\xef\\xbc\\x92026-01-02T03:04:05Z", "2006", ""},
      {"2026-01-02T03:04:05x99:00", "", "", ": time zone offset hour out of range"},
      {"2026-01-02T03:04:05+99:99", "", "", ": time zone offset minute out of range"},
      {"2026-02-30T00:00:00ZZ", "", "", ": extra text: \"Z\""},
      {"2026-13-40T00:00:00Z", "", "", ": month out of range"},
      {"2026-01-02T003:04:05Z", "3:04:05Z", ":", ""},
  };
  for (const Bad& c : kCases) {
    Result<Time> t = Time::Parse(c.text);
    ASSERT_FALSE(t.ok()) << c.text;
    EXPECT_TRUE(t.status().message().starts_with("parsing time \"")) << t.status().message();
    EXPECT_TRUE(t.status().message().ends_with(Ending(c, "2006-01-02T15:04:05Z07:00")))
        << t.status().message();
  }
}

TEST(MicroTime, ParsesExactlySixDigits) {
  const Good kCases[] = {
      {"2026-01-02T03:04:05.123456Z", 1767323045, 123456000, "2026-01-02T03:04:05.123456Z"},
      {"2026-01-02T03:04:05.123456+05:30", 1767303245, 123456000, "2026-01-01T21:34:05.123456Z"},
      {"2026-01-02T03:04:05,123456Z", 1767323045, 123456000, "2026-01-02T03:04:05.123456Z"},
  };
  for (const Good& c : kCases) {
    Result<MicroTime> t = MicroTime::Parse(c.text);
    ASSERT_TRUE(t.ok()) << t.status().ToString();
    EXPECT_EQ(t->unix_seconds(), c.seconds) << c.text;
    EXPECT_EQ(t->nanos(), c.nanos) << c.text;
    EXPECT_EQ(t->ToString(), c.written) << c.text;
  }
}

TEST(MicroTime, ParseErrorsMatchGo) {
  const Bad kCases[] = {
      {"2026-01-02T03:04:05.5Z", ".5Z", ".000000", ""},
      {"2026-01-02T03:04:05,5Z", ",5Z", ".000000", ""},
      {"2026-01-02T03:04:05.123456789Z", "789Z", "Z07:00", ""},
      {"2026-01-02T03:04:05.1234567899Z", "7899Z", "Z07:00", ""},
      {"2026-01-02T03:04:05.Z", ".Z", ".000000", ""},
      {"2026-01-02T03:04:05.1234567Z", "7Z", "Z07:00", ""},
      {"2026-01-02T03:04:05.12345Z", ".12345Z", ".000000", ""},
      {"2026-01-02T03:04:05.123456x", "x", "Z07:00", ""},
      {"", "", "2006", ""},
      {"abc", "abc", "2006", ""},
      {"2026", "", "-", ""},
      {"2026-", "", "01", ""},
      {"2026-13-02T03:04:05Z", "", "", ": month out of range"},
      {"2026-00-02T03:04:05Z", "", "", ": month out of range"},
      {"2026-01-02T24:00:00Z", "", "", ": hour out of range"},
      {"2026-01-02T23:60:00Z", "", "", ": minute out of range"},
      {"2026-01-02T23:59:60Z", "", "", ": second out of range"},
      {"2026-01-02T", "", "15", ""},
      {"2026-01-02T03:04:05.", ".", ".000000", ""},
      {"2026-01-02T03:04:05.x", ".x", ".000000", ""},
      {"2026-01-02T03:04:05Z\"", "", "",
       "\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\\\"\" as \".000000\""},
      {"2026-01-02T03:04:05.123456789012345678901234567890Z", "789012345678901234567890Z", "Z07:00",
       ""},
      {"2026-01-02T99:00:00Z", "", "", ": hour out of range"},
      {"2026-01-02T03:04:05.123456 Z", " Z", "Z07:00", ""},
      {"\012", "\\x0a", "2006", ""},
      {"2026-01-02T03:04:05Z", "Z", ".000000", ""},
      {"2026-01-02T03:04:05.000000+25:00", "", "", ": time zone offset hour out of range"},
      {"2026-02-30T00:00:00.000000Z", "", "", ": day out of range"},
      {"2026-01-02T03:04:05.123456", "", "Z07:00", ""},
  };
  for (const Bad& c : kCases) {
    Result<MicroTime> t = MicroTime::Parse(c.text);
    ASSERT_FALSE(t.ok()) << c.text;
    EXPECT_TRUE(t.status().message().ends_with(Ending(c, "2006-01-02T15:04:05.000000Z07:00")))
        << t.status().message();
  }
}

TEST(Time, PrintsUtcForAnyYear) {
  struct Case {
    int64_t seconds;
    std::string_view time, micro;
  };
  const Case kCases[] = {
      {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.999999Z"},
      {1, "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.999999Z"},
      {-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999Z"},
      {-62135596800, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.999999Z"},
      {-62135596801, "0000-12-31T23:59:59Z", "0000-12-31T23:59:59.999999Z"},
      {253402300799, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z"},
      {253402300800, "10000-01-01T00:00:00Z", "10000-01-01T00:00:00.999999Z"},
      {951782400, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.999999Z"},
      {1709164800, "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.999999Z"},
      {-2208988800, "1900-01-01T00:00:00Z", "1900-01-01T00:00:00.999999Z"},
      {-62167219200, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.999999Z"},
      {-62167219201, "-0001-12-31T23:59:59Z", "-0001-12-31T23:59:59.999999Z"},
      {4102444800, "2100-01-01T00:00:00Z", "2100-01-01T00:00:00.999999Z"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Time::FromUnix(c.seconds, 999'999'999).ToString(), c.time);
    EXPECT_EQ(MicroTime::FromUnix(c.seconds, 999'999'999).ToString(), c.micro);
  }
}

TEST(Time, ZeroIsTheStartOfYearOne) {
  EXPECT_TRUE(Time().IsZero());
  EXPECT_EQ(Time().unix_seconds(), -62135596800);
  EXPECT_EQ(Time().ToString(), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Time::Parse("0001-01-01T00:00:00Z").value(), Time());
  EXPECT_FALSE(Time::FromUnix(0).IsZero());
  EXPECT_FALSE(MicroTime::FromUnix(-62135596800, 1).IsZero());
}

TEST(Time, AddsDurationsAcrossSeconds) {
  const Time t = Time::FromUnix(100, 500'000'000);
  EXPECT_EQ(t + Duration::Milliseconds(500), Time::FromUnix(101));
  EXPECT_EQ(t + Duration::Milliseconds(-501), Time::FromUnix(99, 999'000'000));
  EXPECT_EQ(t + Duration{std::numeric_limits<int64_t>::min()} - t,
            Duration{std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(Time::FromUnix(101) - t, Duration::Milliseconds(500));
  EXPECT_EQ(t - Time::FromUnix(101), Duration::Milliseconds(-500));
  EXPECT_LT(t, Time::FromUnix(101));
}

TEST(Time, DifferencesSaturate) {
  EXPECT_EQ((Time::FromUnix(0) - Time()).nanos, std::numeric_limits<int64_t>::max());
  EXPECT_EQ((Time() - Time::FromUnix(0)).nanos, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Time().UnixNanos(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Time::FromUnix(253402300799).UnixNanos(), std::numeric_limits<int64_t>::max());
  for (int64_t nanos : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, INT64_MAX}) {
    EXPECT_EQ(Time::FromUnixNanos(nanos).UnixNanos(), nanos);
    EXPECT_EQ(MicroTime::FromUnixNanos(nanos).ToTime(), Time::FromUnixNanos(nanos));
  }
}

// Timestamps of protobuf bodies can contain any number of seconds.
TEST(Time, ExtremeTimesDoNotOverflow) {
  const Time last = Time::FromUnix(INT64_MAX), first = Time::FromUnix(INT64_MIN);
  EXPECT_LT(first, last);
  EXPECT_EQ(last + Duration::Seconds(1), last);
  EXPECT_EQ(first + Duration::Seconds(-1), first);
  EXPECT_EQ((last - first).nanos, INT64_MAX);
  EXPECT_EQ((first - last).nanos, INT64_MIN);
  EXPECT_EQ(first.unix_seconds(), INT64_MIN);
  EXPECT_EQ(last.ToString(), "292277024627-12-06T15:30:07Z");
  EXPECT_EQ(first.ToString(), "-292277022657-01-27T08:29:52Z");
}

TEST(Time, Rfc3339CopyDropsTheFraction) {
  EXPECT_EQ(Time::FromUnix(5, 7).Rfc3339Copy(), Time::FromUnix(5));
}

}  // namespace
}  // namespace cox
