// SPDX-License-Identifier: Apache-2.0
// The output for values. The expected text is that of sigs.k8s.io/yaml v1.6 for the JSON next to
// it.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"

namespace cox::yaml {
namespace {

struct Case {
  std::string_view json;
  std::string_view yaml;
};

constexpr Case kCases[] = {
    {"null", "null\n"},
    {"true", "true\n"},
    {"false", "false\n"},
    {"1", "1\n"},
    {"-5", "-5\n"},
    {"1.5", "1.5\n"},
    {"1e-07", "1e-07\n"},
    {"0.0001", "0.0001\n"},
    {"1234567.5", "1.2345675e+06\n"},
    {"\"\"", "\"\"\n"},
    {"[]", "[]\n"},
    {"{}", "{}\n"},
    {"\"a\"", "a\n"},
    {"\"a b\"", "a b\n"},
    {"\" a\"", "' a'\n"},
    {"\"a \"", "'a '\n"},
    {"\"a: b\"", "'a: b'\n"},
    {"\"a:b\"", "a:b\n"},
    {"\"a #b\"", "'a #b'\n"},
    {"\"a#b\"", "a#b\n"},
    {"\"#a\"", "'#a'\n"},
    {"\"- a\"", "'- a'\n"},
    {"\"-a\"", "-a\n"},
    {"\"-\"", "'-'\n"},
    {"\"?\"", "'?'\n"},
    {"\"? a\"", "'? a'\n"},
    {"\"?a\"", "?a\n"},
    {"\":\"", "':'\n"},
    {"\": a\"", "': a'\n"},
    {"\":a\"", ":a\n"},
    {"\",\"", "','\n"},
    {"\"[a\"", "'[a'\n"},
    {"\"{a\"", "'{a'\n"},
    {"\"]\"", "']'\n"},
    {"\"}\"", "'}'\n"},
    {"\"&a\"", "'&a'\n"},
    {"\"*a\"", "'*a'\n"},
    {"\"!a\"", "'!a'\n"},
    {"\"|\"", "'|'\n"},
    {"\"|a\"", "'|a'\n"},
    {"\">\"", "'>'\n"},
    {"\"'a\"", "'''a'\n"},
    {"\"a'b\"", "a'b\n"},
    {"\"it's: x\"", "'it''s: x'\n"},
    {"\"\\\"a\"", "'\"a'\n"},
    {"\"a\\\"b\"", "a\"b\n"},
    {"\"%a\"", "'%a'\n"},
    {"\"@a\"", "'@a'\n"},
    {"\"`a\"", "'`a'\n"},
    {"\"---\"", "'---'\n"},
    {"\"--- a\"", "'--- a'\n"},
    {"\"...\"", "'...'\n"},
    {"\"....\"", "'....'\n"},
    {"\"true\"", "\"true\"\n"},
    {"\"yes\"", "\"yes\"\n"},
    {"\"y\"", "\"y\"\n"},
    {"\"No\"", "\"No\"\n"},
    {"\"on\"", "\"on\"\n"},
    {"\"null\"", "\"null\"\n"},
    {"\"~\"", "\"~\"\n"},
    {"\"Null\"", "\"Null\"\n"},
    {"\"1\"", "\"1\"\n"},
    {"\"01\"", "\"01\"\n"},
    {"\"0x1f\"", "\"0x1f\"\n"},
    {"\"0b1\"", "\"0b1\"\n"},
    {"\"0o7\"", "\"0o7\"\n"},
    {"\"08\"", "\"08\"\n"},
    {"\"1_000\"", "\"1_000\"\n"},
    {"\"1.5\"", "\"1.5\"\n"},
    {"\"1e3\"", "\"1e3\"\n"},
    {"\".5\"", "\".5\"\n"},
    {"\".\"", ".\n"},
    {"\"1.\"", "\"1.\"\n"},
    {"\"+1\"", "\"+1\"\n"},
    {"\"-1\"", "\"-1\"\n"},
    {"\"1e\"", "1e\n"},
    {"\"1:30\"", "\"1:30\"\n"},
    {"\"1:60\"", "1:60\n"},
    {"\"190:20:30.5\"", "\"190:20:30.5\"\n"},
    {"\"1:5a\"", "1:5a\n"},
    {"\"2001-01-01\"", "\"2001-01-01\"\n"},
    {"\"2001-02-30\"", "2001-02-30\n"},
    {"\"2001-01-01T00:00:00Z\"", "\"2001-01-01T00:00:00Z\"\n"},
    {"\"2001-1-1 1:2:3\"", "\"2001-1-1 1:2:3\"\n"},
    {"\"<<\"", "<<\n"},
    {"\"=\"", "=\n"},
    {"\"a\\nb\"", "|-\n  a\n  b\n"},
    {"\"a\\nb\\n\"", "|\n  a\n  b\n"},
    {"\"a\\nb\\n\\n\"", "|+\n  a\n  b\n\n"},
    {"\"\\n\"", "|2+\n\n"},
    {"\"\\na\"", "|2-\n\n  a\n"},
    {"\"a\\n\\n\\nb\\n\"", "|\n  a\n\n\n  b\n"},
    {"\" a\\nb\\n\"", "|2\n   a\n  b\n"},
    {"\"a \\nb\"", "\"a \\nb\"\n"},
    {"\"a\\nb \"", "\"a\\nb \"\n"},
    {"\"a\\n b\\n\"", "|\n  a\n   b\n"},
    {"\"a\\tb\"", "\"a\\tb\"\n"},
    {"\"\\ta\"", "\"\\ta\"\n"},
    {"\"a\\rb\"", "\"a\\rb\"\n"},
    {"\"a\xC2\xA0"
     "b\"",
     "a\xC2\xA0"
     "b\n"},
    {"\"\xC3\xA9\"", "\xC3\xA9\n"},
    {"\"a\\u2028b\"", "'a\xE2\x80\xA8  b'\n"},
    {"\"\\u0085\"", "\"\\N\"\n"},
    {"\"\\u0001\"", "\"\\x01\"\n"},
    {"\"\\u0000\"", "\"\\0\"\n"},
    {"\"\\u001b\"", "\"\\e\"\n"},
    {"\"\\u0007\\b\\u000b\\f\"", "\"\\a\\b\\v\\f\"\n"},
    {"\"\\ufeffa\"", "\"\\uFEFF\\x61\"\n"},
    {"\"\xEF\xBF\xBD\"", "\xEF\xBF\xBD\n"},
    {"\"\xF0\x9F\x98\x80\"", "\"\\U0001F600\"\n"},
    {"\"a\\\\b\"", "a\\b\n"},
    {"\"a\\\\\\tb\"", "\"a\\\\\\tb\"\n"},
    {"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaa\"",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaa\n"},
    {"\"word word word word word word word word word word word word word word word word word word "
     "word word word word word word word word word word word word \"",
     "'word word word word word word word word word word word word word word word word word\n  "
     "word word word word word word word word word word word word word '\n"},
    {"\"it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's "
     "it's it's it's it's it's it's it's it's it's it's it's it's \"",
     "'it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s\n  "
     "it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s\n  it''s "
     "it''s '\n"},
    {"\"word: word: word: word: word: word: word: word: word: word: word: word: word: word: word: "
     "word: word: word: word: word: \"",
     "'word: word: word: word: word: word: word: word: word: word: word: word: word: word:\n  "
     "word: word: word: word: word: word: '\n"},
    {"\"word\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\t"
     "word\\tword\\tword\\tword\\tword\\tword\\tword\\t\"",
     "\"word\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\tword\\t"
     "word\\tword\\tword\\tword\\tword\\tword\\tword\\t\"\n"},
    {"\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
     "y\"",
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n "
     " y\n"},
    {"\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
     " y z\"",
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  "
     "y\n  z\n"},
    {"\"- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
     "- - - - - - - - - - - - - - - \"",
     "'- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\n  - - - "
     "- - - - - - - - - - - - - - - - '\n"},
    {"\"word word word word word word word word word word word word word word word word word word "
     "\\tword word word word word word word word word word word word word word word word word word "
     "\\t\"",
     "\"word word word word word word word word word word word word word word word word word\n  "
     "word \\tword word word word word word word word word word word word word word word\n  word "
     "word word \\t\"\n"},
    {"{\"a\": 1}", "a: 1\n"},
    {"{\"a\": {\"b\": {\"c\": []}}}", "a:\n  b:\n    c: []\n"},
    {"{\"a\": [1, [2, [3]], {\"b\": 1, \"c\": [4]}]}",
     "a:\n- 1\n- - 2\n  - - 3\n- b: 1\n  c:\n  - 4\n"},
    {"[[[1]]]", "- - - 1\n"},
    {"[{\"a\": 1, \"b\": 2}, {\"a\": 3}]", "- a: 1\n  b: 2\n- a: 3\n"},
    {"[[], {}, [[]], \"\"]", "- []\n- {}\n- - []\n- \"\"\n"},
    {"{\"a\": \"x\\ny\\n\", \"b\": 1}", "a: |\n  x\n  y\nb: 1\n"},
    {"[\"x\\ny\\n\", 1]", "- |\n  x\n  y\n- 1\n"},
    {"{\"a\": [\"x\\ny\"]}", "a:\n- |-\n  x\n  y\n"},
    {"{\"a10\": 1, \"a2\": 2, \"a1\": 3, \"B\": 4, \"b\": 5, \"A\": 6, \"a-1\": 7, \"a_1\": 8, "
     "\"a.b\": 9, \"a/b\": 10, \"10\": 11, \"9\": 12, \"01\": 13, \"1\": 14, \"\": 15, "
     "\"\xC3\xA9\": 16, \"a01\": 18}",
     "\"\": 15\n\"1\": 14\n\"01\": 13\n\"9\": 12\n\"10\": 11\nA: 6\nB: 4\na-1: 7\na.b: 9\na/b: "
     "10\na_1: 8\na1: 3\na01: 18\na2: 2\na10: 1\nb: 5\n\xC3\xA9: 16\n"},
    {"{\"true\": 1, \"1\": 2, \"a b\": 3, \"a: b\": 4, \"-\": 5, \"null\": 6}",
     "'-': 5\n\"1\": 2\na b: 3\n'a: b': 4\n\"null\": 6\n\"true\": 1\n"},
    {"{\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\": 1, "
     "\"lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
     "llllllllllllllllllllllllllllllllllllll\": 2, "
     "\"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
     "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
     "mmmmmmmmmmmmmmmm\": {\"a\": 1}, "
     "\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\": [1, 2]}",
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
     "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n? "
     "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
     "llllllllllllllllllllllllllllllllllll\n: 2\n? "
     "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
     "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
     "mmmmmmmmmmmmmm\n: a: 1\n? "
     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
     "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n: - 1\n  - 2\n"},
    {"{\"a\\nb\": 1}", "? |-\n  a\n  b\n: 1\n"},
    {"{\"a\\nb\": [1]}", "? |-\n  a\n  b\n: - 1\n"},
    {"{\"metadata\": {\"annotations\": {\"long\": \"word word word word word word word word word "
     "word word word word word word word word word word word word word word word word word word "
     "word word word word word word word word word word word word word \"}}}",
     "metadata:\n  annotations:\n    long: 'word word word word word word word word word word word "
     "word word word word\n      word word word word word word word word word word word word word "
     "word word word\n      word word word word word word word word word '\n"},
};

TEST(Write, OutputEqualsUpstreams) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.json);
    Result<Value> value = json::Parse(c.json);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ(Write(*value), c.yaml);
  }
}

TEST(Write, RoundTrips) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.json);
    Value value = *json::Parse(c.json);
    Result<Value> again = yaml::Parse(Write(value));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(*again, value);
  }
}

// Upstream would lose the member, because "<<" without quotes merges.
TEST(Write, MergeKeyIsQuoted) {
  Value value = Value::MakeObject({{"<<", Value::MakeObject({{"a", 1}})}});
  EXPECT_EQ(Write(value), "\"<<\":\n  a: 1\n");
  EXPECT_EQ(*yaml::Parse(Write(value)), value);
}

TEST(Write, WritesNumbersThatJsonDoesNotSupport) {
  EXPECT_EQ(Write(std::numeric_limits<double>::infinity()), ".inf\n");
  EXPECT_EQ(Write(-std::numeric_limits<double>::infinity()), "-.inf\n");
  EXPECT_EQ(Write(std::numeric_limits<double>::quiet_NaN()), ".nan\n");
  EXPECT_EQ(Write(1e6), "1000000\n");
  EXPECT_EQ(Write(1e19), "10000000000000000000\n");
  EXPECT_EQ(Write(1e20), "1e+20\n");
  EXPECT_EQ(Write(-0.0), "0\n");
}

TEST(Write, InvalidUtf8IsReplaced) {
  EXPECT_EQ(Write("a\xFF"), "a\xEF\xBF\xBD\n");
  EXPECT_EQ(Write("\x7F"), "\"\\x7F\"\n");
}

}  // namespace
}  // namespace cox::yaml
