// SPDX-License-Identifier: Apache-2.0
#include "object/patch/go_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "object/patch/case_file.h"

namespace cox::patch {
namespace {

TEST(GoText, PrintsAsGoDoes) {
  struct {
    const char* json;
    const char* text;
  } cases[] = {
      {"null", "<nil>"},
      {"true", "true"},
      {"-5", "-5"},
      {R"("a b")", "a b"},
      {"[]", "[]"},
      {"[1,\"a\",null,[]]", "[1 a <nil> []]"},
      {"{}", "map[]"},
      {R"({"name":"b","image":"x:1","l":[{"a":1}]})", "map[image:x:1 l:[map[a:1]] name:b]"},
      {"1.5", "1.5"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"123456.5", "123456.5"},
      {"123456789.5", "1.234567895e+08"},
      {"1e20", "1e+20"},
      {"1.5e300", "1.5e+300"},
      {"1e-7", "1e-07"},
  };
  for (const auto& c : cases) EXPECT_EQ(GoText(Json(c.json)), c.text);
  EXPECT_EQ(GoText(Value(std::numeric_limits<double>::infinity())), "+Inf");
  EXPECT_EQ(GoText(Value(-std::numeric_limits<double>::infinity())), "-Inf");
  EXPECT_EQ(GoText(Value(0.0)), "0");
}

TEST(GoText, IsBounded) {
  Value::Array many(100'000, Value("0123456789"));
  EXPECT_EQ(GoText(Value(many)).size(), kMaxGoTextBytes + 3);
  EXPECT_EQ(GoText(Value(std::string(50'000, 'x'))).size(), kMaxGoTextBytes + 3);
  EXPECT_EQ(GoText(Value(std::string(kMaxGoTextBytes, 'x'))).size(), kMaxGoTextBytes);
}

TEST(GoText, NamesTypes) {
  EXPECT_EQ(GoTypeName(Json("{}")), "map[string]interface {}");
  EXPECT_EQ(GoTypeName(Json("[]")), "[]interface {}");
  EXPECT_EQ(GoTypeName(Json("1")), "int64");
  EXPECT_EQ(GoTypeName(Json("1.5")), "float64");
  EXPECT_EQ(GoTypeName(Json("\"\"")), "string");
  EXPECT_EQ(GoTypeName(Json("true")), "bool");
  EXPECT_EQ(CannotUnmarshal(Json("[]"), "value of type string"),
            "json: cannot unmarshal array into Go value of type string");
}

}  // namespace
}  // namespace cox::patch
