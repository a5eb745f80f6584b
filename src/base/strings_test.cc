// SPDX-License-Identifier: Apache-2.0
#include "base/strings.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cox {
namespace {

using std::chrono::nanoseconds;
using std::string_literals::operator""s;

TEST(Quote, MatchesGo) {
  struct Case {
    std::string in;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"", R"("")"},
      {"web-0", R"("web-0")"},
      {"\x00\x1f\x7f\u0080\u009f\u00a0\u00ad"s, R"("\x00\x1f\x7f\u0080\u009f\u00a0\u00ad")"},
      {"a\"b\\c'd`", R"("a\"b\\c'd`")"},
      {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
      {"\xff\xc3(\xe2\x82\xed\xa0\x80", R"("\xff\xc3(\xe2\x82\xed\xa0\x80")"},
      {"héllo 世界 😀", R"("héllo 世界 😀")"},
      {"\u2028\ufeff\U000e0001\U0010ffff\ufffd\ue000",
       "\"\\u2028\\ufeff\\U000e0001\\U0010ffff\ufffd\\ue000\""},
      {"\xf4\x90\x80\x80\xc0\x80\xf0\x80\x80\x80", R"("\xf4\x90\x80\x80\xc0\x80\xf0\x80\x80\x80")"},
      {"\u3000\u200b\u2010\U0001d173", "\"\\u3000\\u200b\u2010\\U0001d173\""},
      {"\xe2\x82", R"("\xe2\x82")"},  // truncated inside a rune
      {"\xe2\x82\xac", "\"\xe2\x82\xac\""},
  };
  for (const Case& c : cases) EXPECT_EQ(Quote(c.in), c.want);
}

TEST(Quote, OutputNeverContainsControlBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string in = {static_cast<char>(first), static_cast<char>(second)};
      for (char c : Quote(in)) {
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << first << " " << second;
      }
    }
  }
}

TEST(Quote, AppendQuotedKeepsExistingText) {
  std::string out = "name=";
  AppendQuoted(out, "a");
  EXPECT_EQ(out, "name=\"a\"");
}

TEST(Utf8, EveryRuneRoundTrips) {
  for (char32_t rune = 0; rune <= 0x10FFFF; ++rune) {
    std::string text;
    AppendUtf8(text, rune);
    const Rune got = DecodeRune(text);
    const bool surrogate = rune >= 0xD800 && rune <= 0xDFFF;
    ASSERT_TRUE(got.valid);
    ASSERT_EQ(got.size, text.size());
    ASSERT_EQ(got.value, surrogate ? Rune::kError : rune);
  }
  std::string beyond;
  AppendUtf8(beyond, 0x110000);
  EXPECT_EQ(beyond, "\ufffd");
}

TEST(Utf8, InvalidEncodingsAreOneInvalidByte) {
  for (const std::string& text : {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xe0\x9f\xbf"s,
                                  "\xed\xa0\x80"s, "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s,
                                  "\xf5\x80\x80\x80"s, "\xff"s, "\xc3"s, "\xc3("s}) {
    const Rune rune = DecodeRune(text);
    EXPECT_FALSE(rune.valid) << Quote(text);
    EXPECT_EQ(rune.size, 1u);
    EXPECT_EQ(rune.value, Rune::kError);
  }
}

TEST(IsPrintable, HandlesBoundariesOfRanges) {
  for (char32_t rune :
       {U' ', U'~', U'\u00a1', U'\u00ac', U'\u00ae', U'\u2010', U'\u2027', U'\u2030', U'\u205e',
        U'\u2070', U'\uf900', U'\ufffc', U'\ufffd', U'\U000e0100'}) {
    EXPECT_TRUE(IsPrintable(rune)) << std::hex << static_cast<uint32_t>(rune);
  }
  for (uint32_t rune :
       {0x0u,    0x1fu,   0x7fu,   0x80u,   0xa0u,    0xadu,    0x2000u,   0x200fu,  0x2028u,
        0x202fu, 0x205fu, 0x206fu, 0xd800u, 0xdfffu,  0xe000u,  0xf8ffu,   0xfdd0u,  0xfeffu,
        0xfff0u, 0xfffbu, 0xfffeu, 0xffffu, 0x1fffeu, 0xf0000u, 0x10ffffu, 0x110000u}) {
    EXPECT_FALSE(IsPrintable(rune)) << std::hex << rune;
  }
}

TEST(FormatDuration, MatchesGo) {
  struct Case {
    int64_t nanos;
    std::string want;
  };
  const std::vector<Case> cases = {
      {0, "0s"},
      {1, "1ns"},
      {999, "999ns"},
      {1000, "1µs"},
      {1500, "1.5µs"},
      {1'000'000, "1ms"},
      {2'000'003, "2.000003ms"},
      {1'500'000'000, "1.5s"},
      {-1'000'000'000, "-1s"},
      {59'999'999'999, "59.999999999s"},
      {60'000'000'000, "1m0s"},
      {3'600'000'000'000, "1h0m0s"},
      {5'401'005'000'000, "1h30m1.005s"},
      {std::numeric_limits<int64_t>::max(), "2562047h47m16.854775807s"},
      {std::numeric_limits<int64_t>::min(), "-2562047h47m16.854775808s"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatDuration(nanoseconds(c.nanos)), c.want);
}

TEST(FormatDouble, IsShortestRoundTrip) {
  struct Case {
    double value;
    std::string want;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Case> cases = {
      {0, "0"},
      {-0.0, "-0"},
      {2, "2"},
      {0.1, "0.1"},
      {-1.5, "-1.5"},
      {1e8, "100000000"},
      {1e20, "100000000000000000000"},
      {12345678901234567000.0, "12345678901234567000"},
      {-9007199254740994, "-9007199254740994"},
      {1e21, "1e+21"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.5e-10, "1.5e-10"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {inf, "+Inf"},
      {-inf, "-Inf"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatDouble(c.value), c.want);
}

TEST(TrimSpace, TrimsBothEndsOnly) {
  EXPECT_EQ(TrimSpace(" \t\r\n\v\fa b\n "), "a b");
  EXPECT_EQ(TrimSpace(" \n "), "");
  EXPECT_EQ(TrimSpace(""), "");
}

TEST(Cut, SplitsAtTheFirstSeparator) {
  auto [before, after, found] = Cut("a=b=c", '=');
  EXPECT_EQ(before, "a");
  EXPECT_EQ(after, "b=c");
  EXPECT_TRUE(found);
  EXPECT_EQ(Cut("abc", '=').before, "abc");
  EXPECT_FALSE(Cut("abc", '=').found);
  EXPECT_TRUE(Cut("=", '=').found);
}

TEST(Split, ToStringsReturnsOwnedStrings) {
  EXPECT_EQ(Split("a,,b", ',').ToStrings(), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ',').ToStrings(), std::vector<std::string>{""});
}

TEST(Split, YieldsAllPartsIncludingEmptyOnes) {
  struct Case {
    std::string_view in;
    std::vector<std::string_view> want;
  };
  const std::vector<Case> cases = {
      {"a,b,,c", {"a", "b", "", "c"}},
      {"a", {"a"}},
      {",", {"", ""}},
      {"a,", {"a", ""}},
      {"", {""}},
      {{}, {""}},
  };
  for (const Case& c : cases) {
    std::vector<std::string_view> got;
    for (std::string_view part : Split(c.in, ',')) got.push_back(part);
    EXPECT_EQ(got, c.want);
  }
}

TEST(Split, WorksWithANulSeparator) {
  std::vector<std::string_view> got;
  for (std::string_view part : Split(std::string_view("a\0b", 3), '\0')) got.push_back(part);
  EXPECT_EQ(got, (std::vector<std::string_view>{"a", "b"}));
}

TEST(Join, InsertsTheSeparatorBetweenParts) {
  EXPECT_EQ(Join(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(Join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(Join(Split("x/y", '/'), "."), "x.y");
}

}  // namespace
}  // namespace cox
