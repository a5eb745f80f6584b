// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/reader.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/type/limits.h"

namespace cox::json {
namespace {

struct Case {
  const char* text;
  const char* error;  // Go's text
};

TEST(JsonSyntax, ErrorsMatchGo) {
  const Case cases[] = {
      {"", "unexpected end of JSON input"},
      {"  ", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {"{\"a\"", "unexpected end of JSON input"},
      {"{\"a\":", "unexpected end of JSON input"},
      {"{\"a\":1", "unexpected end of JSON input"},
      {"[1", "unexpected end of JSON input"},
      {"\"abc", "unexpected end of JSON input"},
      {"\"abc\\", "unexpected end of JSON input"},
      {"tru", "unexpected end of JSON input"},
      {"-", "unexpected end of JSON input"},
      {"1.", "unexpected end of JSON input"},
      {"1e", "unexpected end of JSON input"},
      {"\"\\u12", "unexpected end of JSON input"},
      {"}", "invalid character '}' looking for beginning of value"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"[,", "invalid character ',' looking for beginning of value"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{,", "invalid character ',' looking for beginning of object key string"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"1 2", "invalid character '2' after top-level value"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {"\"\\x\"", "invalid character 'x' in string escape code"},
      {"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"},
      {"01", "invalid character '1' after top-level value"},
      {"-a", "invalid character 'a' in numeric literal"},
      {"1.a", "invalid character 'a' after decimal point in numeric literal"},
      {"1ea", "invalid character 'a' in exponent of numeric literal"},
      {"trux", "invalid character 'x' in literal true (expecting 'e')"},
      {"nul1", "invalid character '1' in literal null (expecting 'l')"},
      {"'", "invalid character '\\'' looking for beginning of value"},
      {"\xc3", "invalid character '\xc3\x83' looking for beginning of value"},
  };
  for (const Case& c : cases) {
    Result<Value> value = Parse(c.text);
    ASSERT_FALSE(value.ok()) << c.text;
    EXPECT_EQ(value.status().message(), c.error) << c.text;
    EXPECT_EQ(value.status().reason(), Reason::kBadRequest);
    // Skip must report the same errors.
    Reader reader(c.text);
    EXPECT_FALSE(reader.Skip() && reader.End()) << c.text;
    EXPECT_EQ(reader.status().message(), c.error) << c.text;
  }
}

TEST(JsonStrings, RoundTripLikeGo) {
  struct {
    const char* text;
    const char* value;
    const char* written;
  } cases[] = {
      {R"("")", "", R"("")"},
      {R"("plain")", "plain", R"("plain")"},
      {R"("a longer plain string, beyond eight bytes")",
       "a longer plain string, beyond eight bytes",
       R"("a longer plain string, beyond eight bytes")"},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t", R"("\"\\/\b\f\n\r\t")"},
      {R"("\u0041\u00e9\u20ac")", "A\xc3\xa9\xe2\x82\xac", "\"A\xc3\xa9\xe2\x82\xac\""},
      {R"("\ud83d\ude00")", "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
      {R"("\ud83d")", "\xef\xbf\xbd", "\"\xef\xbf\xbd\""},
      {R"("\ud83dx")", "\xef\xbf\xbdx", "\"\xef\xbf\xbdx\""},
      {R"("\ud83d\u0041")",
       "\xef\xbf\xbd"
       "A",
       "\"\xef\xbf\xbd"
       "A\""},
      {R"("\ude00")", "\xef\xbf\xbd", "\"\xef\xbf\xbd\""},
      {"\"\xff\xc3\x28\"", "\xef\xbf\xbd\xef\xbf\xbd(", "\"\xef\xbf\xbd\xef\xbf\xbd(\""},
      {"\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
      {R"("<a href='&'>")", "<a href='&'>", R"("\u003ca href='\u0026'\u003e")"},
      {R"("\u2028\u2029")", "\xe2\x80\xa8\xe2\x80\xa9", R"("\u2028\u2029")"},
      {"\"\x7f\"", "\x7f", "\"\x7f\""},
  };
  for (const auto& c : cases) {
    Result<Value> value = Parse(c.text);
    ASSERT_TRUE(value.ok()) << c.text << ": " << value.status().message();
    EXPECT_EQ(value->as_string(), c.value) << c.text;
    EXPECT_EQ(Write(*value), c.written) << c.text;
  }
  std::string nul("a\0b", 3);
  EXPECT_EQ(Write(Value(nul)), "\"a\\u0000b\"");
  EXPECT_EQ(Write(Value("\x80")), "\"\\ufffd\"");
}

// All lengths and positions around the eight bytes that are processed at once.
TEST(JsonStrings, SpecialCharactersAreFoundAtEveryPosition) {
  for (size_t length = 0; length < 40; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (const char* special : {"\\n", "\xc3\xa9", "\\\""}) {
        std::string text =
            "\"" + std::string(at, 'a') + special + std::string(length - at, 'b') + "\"";
        Result<Value> value = Parse(text);
        ASSERT_TRUE(value.ok()) << text;
        EXPECT_EQ(Write(*value), text);
      }
      std::string bad = "\"" + std::string(at, 'a') + "\x01" + std::string(length - at, 'b') + "\"";
      EXPECT_FALSE(Parse(bad).ok());
    }
  }
}

TEST(JsonNumbers, KeepIntegersAndWriteDoublesLikeGo) {
  struct {
    const char* text;
    const char* written;
    bool integer;
  } cases[] = {
      {"0", "0", true},
      {"-0", "0", true},
      {"1", "1", true},
      {"-17", "-17", true},
      {"999999999999999999", "999999999999999999", true},
      {"9223372036854775807", "9223372036854775807", true},
      {"-9223372036854775808", "-9223372036854775808", true},
      {"9223372036854775808", "9223372036854776000", false},
      {"18446744073709551615", "18446744073709552000", false},
      {"1.5", "1.5", false},
      {"1.0", "1", false},
      {"1e3", "1000", false},
      {"1E+3", "1000", false},
      {"1e20", "100000000000000000000", false},
      {"1e21", "1e+21", false},
      {"1e-6", "0.000001", false},
      {"1e-7", "1e-7", false},
      {"1.25e-10", "1.25e-10", false},
      {"1e-400", "0", false},
      {"0.1", "0.1", false},
  };
  for (const auto& c : cases) {
    Result<Value> value = Parse(c.text);
    ASSERT_TRUE(value.ok()) << c.text;
    EXPECT_EQ(value->is_int(), c.integer) << c.text;
    EXPECT_EQ(Write(*value), c.written) << c.text;
  }
  EXPECT_EQ(Parse("1e400").status().message(),
            "json: cannot unmarshal number 1e400 into Go value of type float64");
  EXPECT_EQ(Write(Value(std::numeric_limits<double>::infinity())), "null");
}

TEST(JsonObjects, AreSortedAndLastOfDuplicateKeysIsKept) {
  Strictness strict;
  Result<Value> value = Parse(R"({"b":1,"a":{"y":1,"x":[{"k":1,"k":2}]},"b":3,"b":4})", &strict);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(Write(*value), R"({"a":{"x":[{"k":2}],"y":1},"b":4})");
  EXPECT_EQ(strict.errors,
            (std::vector<std::string>{"duplicate field \"a.x[0].k\"", "duplicate field \"b\""}));
}

TEST(JsonDepth, IsLimitedForReadingAndSkipping) {
  auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  std::string deep = nested(limits::kMaxDepth);
  std::string deeper = nested(limits::kMaxDepth + 1);
  EXPECT_TRUE(Parse(deep).ok());
  EXPECT_EQ(Parse(deeper).status().message(), "exceeded max depth");
  Reader ok(deep);
  EXPECT_TRUE(ok.Skip() && ok.End());
  Reader bad(deeper);
  EXPECT_FALSE(bad.Skip());
  EXPECT_EQ(bad.status().message(), "exceeded max depth");
  std::string objects;
  for (int i = 0; i < limits::kMaxDepth + 1; ++i) objects += "{\"a\":";
  EXPECT_EQ(Parse(objects).status().message(), "exceeded max depth");
}

TEST(JsonStrictness, CollectsUniqueErrorsUpToALimit) {
  Strictness strict;
  strict.Unknown("a");
  strict.Unknown("a");
  strict.Duplicate("a");
  EXPECT_EQ(strict.errors.size(), 2u);
  for (int i = 0; i < 1000; ++i) strict.Unknown("field" + std::to_string(i));
  EXPECT_EQ(strict.errors.size(), limits::kMaxStrictErrors);
}

}  // namespace
}  // namespace cox::json
