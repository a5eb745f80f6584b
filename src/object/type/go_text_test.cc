// SPDX-License-Identifier: Apache-2.0
#include "object/type/go_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "object/codec/json/json.h"

namespace cox {
namespace {

TEST(GoText, PrintsLikeGo) {
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
  for (const auto& c : cases) EXPECT_EQ(GoText(*json::Parse(c.json)), c.text);
  EXPECT_EQ(GoText(Value(std::numeric_limits<double>::infinity())), "+Inf");
  EXPECT_EQ(GoText(Value(-std::numeric_limits<double>::infinity())), "-Inf");
  EXPECT_EQ(GoText(Value(0.0)), "0");
}

TEST(GoText, LengthIsLimited) {
  Value::Array many(100'000, Value("0123456789"));
  EXPECT_EQ(GoText(Value(many)).size(), kMaxGoTextBytes + 3);
  EXPECT_EQ(GoText(Value(std::string(50'000, 'x'))).size(), kMaxGoTextBytes + 3);
  EXPECT_EQ(GoText(Value(std::string(kMaxGoTextBytes, 'x'))).size(), kMaxGoTextBytes);
}

TEST(GoText, NamesTypes) {
  EXPECT_EQ(GoTypeName(*json::Parse("{}")), "map[string]interface {}");
  EXPECT_EQ(GoTypeName(*json::Parse("[]")), "[]interface {}");
  EXPECT_EQ(GoTypeName(*json::Parse("1")), "int64");
  EXPECT_EQ(GoTypeName(*json::Parse("1.5")), "float64");
  EXPECT_EQ(GoTypeName(*json::Parse("\"\"")), "string");
  EXPECT_EQ(GoTypeName(*json::Parse("true")), "bool");
  EXPECT_EQ(CannotUnmarshal(*json::Parse("[]"), "value of type string"),
            "json: cannot unmarshal array into Go value of type string");
}

TEST(GoSyntax, NamesTypes) {
  Value value = Value::MakeObject({{"a", Value::MakeArray({1, "x\n", nullptr, true})}});
  EXPECT_EQ(GoSyntax(value),
            R"(map[string]interface {}{"a":[]interface {}{1, "x\n", interface {}(nil), true}})");
  EXPECT_EQ(GoSyntax(value, "M"), R"(M{"a":[]interface {}{1, "x\n", interface {}(nil), true}})");
  EXPECT_LE(GoSyntax(Value(std::string(100'000, 'x'))).size(), kMaxGoTextBytes);
}

}  // namespace
}  // namespace cox
