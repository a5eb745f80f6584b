// SPDX-License-Identifier: Apache-2.0
#include "object/scalar/int_or_string.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

TEST(IntOrString, DistinguishesNumbersFromStrings) {
  EXPECT_EQ(IntOrString(), IntOrString(0));
  EXPECT_NE(IntOrString(80), IntOrString("80"));
  EXPECT_NE(IntOrString(0), IntOrString(""));
  EXPECT_EQ(IntOrString::FromString("http").ToString(), "http");
  EXPECT_EQ(IntOrString::FromInt(-80).ToString(), "-80");
  EXPECT_EQ(IntOrString(7).IntValue(), 7);
  EXPECT_EQ(IntOrString("99999999999999999999").IntValue(), INT64_MAX);
  EXPECT_EQ(IntOrString("-99999999999999999999").IntValue(), INT64_MIN);
}

TEST(IntOrString, ParsesNumbersThatFit) {
  struct Case {
    std::string_view text;
    bool is_string;
    int32_t number;
    std::string_view written;
    int64_t value;
  };
  const Case kCases[] = {
      {"5", false, 5, "5", 5},
      {"-5", false, -5, "-5", -5},
      {"2147483648", true, 0, "2147483648", 2147483648},
      {"-2147483648", false, -2147483648, "-2147483648", -2147483648},
      {"2147483647", false, 2147483647, "2147483647", 2147483647},
      {"+5", false, 5, "5", 5},
      {"05", false, 5, "5", 5},
      {"5a", true, 0, "5a", 0},
      {"", true, 0, "", 0},
      {" 5", true, 0, " 5", 0},
      {"0x5", true, 0, "0x5", 0},
      {"1_0", true, 0, "1_0", 0},
      {"+-5", true, 0, "+-5", 0},
      {"+", true, 0, "+", 0},
  };
  for (const Case& c : kCases) {
    IntOrString parsed = IntOrString::Parse(c.text);
    EXPECT_EQ(parsed.is_string(), c.is_string) << c.text;
    EXPECT_EQ(parsed.int_value(), c.number) << c.text;
    EXPECT_EQ(parsed.ToString(), c.written) << c.text;
    EXPECT_EQ(parsed.IntValue(), c.value) << c.text;
    EXPECT_EQ(IntOrString(c.text).IntValue(), c.value) << c.text;
  }
}

TEST(IntOrString, ScalesPercentages) {
  struct Case {
    std::string_view text;
    bool round_up;
    int64_t value;
    std::string_view error;
  };
  const Case kCases[] = {
      {"5%", true, 1, ""},
      {"5%", false, 0, ""},
      {"0%", true, 0, ""},
      {"0%", false, 0, ""},
      {"100%", true, 7, ""},
      {"100%", false, 7, ""},
      {"150%", true, 11, ""},
      {"150%", false, 10, ""},
      {"-5%", true, 0, ""},
      {"-5%", false, -1, ""},
      {"5", true, 0, "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"5", false, 0, "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"a%", true, 0,
       "invalid value for IntOrString: invalid value \"a%\": strconv.Atoi: parsing \"a\": invalid "
       "syntax"},
      {"a%", false, 0,
       "invalid value for IntOrString: invalid value \"a%\": strconv.Atoi: parsing \"a\": invalid "
       "syntax"},
      {"%", true, 0,
       "invalid value for IntOrString: invalid value \"%\": strconv.Atoi: parsing \"\": invalid "
       "syntax"},
      {"%", false, 0,
       "invalid value for IntOrString: invalid value \"%\": strconv.Atoi: parsing \"\": invalid "
       "syntax"},
      {"", true, 0, "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"", false, 0, "invalid value for IntOrString: invalid type: string is not a percentage"},
      {"1.5%", true, 0,
       "invalid value for IntOrString: invalid value \"1.5%\": strconv.Atoi: parsing \"1.5\": "
       "invalid syntax"},
      {"1.5%", false, 0,
       "invalid value for IntOrString: invalid value \"1.5%\": strconv.Atoi: parsing \"1.5\": "
       "invalid syntax"},
      {" 5%", true, 0,
       "invalid value for IntOrString: invalid value \" 5%\": strconv.Atoi: parsing \" 5\": "
       "invalid syntax"},
      {" 5%", false, 0,
       "invalid value for IntOrString: invalid value \" 5%\": strconv.Atoi: parsing \" 5\": "
       "invalid syntax"},
      {"5 %", true, 0,
       "invalid value for IntOrString: invalid value \"5 %\": strconv.Atoi: parsing \"5 \": "
       "invalid syntax"},
      {"5 %", false, 0,
       "invalid value for IntOrString: invalid value \"5 %\": strconv.Atoi: parsing \"5 \": "
       "invalid syntax"},
      {"5%%", true, 0,
       "invalid value for IntOrString: invalid value \"5%%\": strconv.Atoi: parsing \"5%\": "
       "invalid syntax"},
      {"5%%", false, 0,
       "invalid value for IntOrString: invalid value \"5%%\": strconv.Atoi: parsing \"5%\": "
       "invalid syntax"},
      {"99999999999999999999%", true, 0,
       "invalid value for IntOrString: invalid value \"99999999999999999999%\": strconv.Atoi: "
       "parsing \"99999999999999999999\": value out of range"},
      {"99999999999999999999%", false, 0,
       "invalid value for IntOrString: invalid value \"99999999999999999999%\": strconv.Atoi: "
       "parsing \"99999999999999999999\": value out of range"},
      {"33%", true, 3, ""},
      {"33%", false, 2, ""},
      {"+5%", true, 1, ""},
      {"+5%", false, 0, ""},
      {"2147483648%", true, 150323856, ""},
      {"2147483648%", false, 150323855, ""},
  };
  for (const Case& c : kCases) {
    Result<int64_t> value = GetScaledValueFromIntOrPercent(c.text, 7, c.round_up);
    EXPECT_EQ(value.ok() ? "" : value.status().message(), c.error) << c.text;
    EXPECT_EQ(value.value_or(0), c.value) << c.text << " up: " << c.round_up;
  }
  EXPECT_EQ(GetScaledValueFromIntOrPercent(9, 7, true).value(), 9);
  EXPECT_EQ(GetScaledValueFromIntOrPercent("9223372036854775807%", INT64_MAX, true).value(),
            INT64_MAX);
  EXPECT_EQ(GetScaledValueFromIntOrPercent("9223372036854775807%", INT64_MIN, true).value(),
            INT64_MIN);
}

}  // namespace
}  // namespace cox
