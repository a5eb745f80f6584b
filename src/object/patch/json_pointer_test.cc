// SPDX-License-Identifier: Apache-2.0
#include "object/patch/json_pointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/testing/case_file.h"

namespace cox::patch {
namespace {

TEST(JsonPointer, SplitsAndUnescapesTokens) {
  struct {
    const char* text;
    std::vector<std::string> tokens;
  } cases[] =
      {
          {"/a", {"a"}},          {"/a/b/0", {"a", "b", "0"}}, {"/", {""}},
          {"//", {"", ""}},       {"/a/", {"a", ""}},          {"/a~1b/m~0n", {"a/b", "m~n"}},
          {"/~01", {"~1"}},        // not "/": ~0 is unescaped last
          {"/~2/~", {"~2", "~"}},  // accepted unchanged
          {"a/b", {"b"}},          // text before the first slash is ignored
          {" /b", {"b"}},
      };
  for (const auto& c : cases) {
    auto pointer = JsonPointer::Parse(c.text);
    ASSERT_TRUE(pointer.has_value()) << c.text;
    EXPECT_EQ(pointer->tokens(), c.tokens) << c.text;
  }
}

TEST(JsonPointer, TextWithoutSlashIsNoPointer) {
  for (const char* text : {"", "a", "~1", "#"}) EXPECT_FALSE(JsonPointer::Parse(text)) << text;
}

TEST(JsonPointer, EscapingRoundTrips) {
  for (const char* token : {"", "a", "/", "~", "~1", "~0", "a/b~c//~~", "\x01\xff"}) {
    EXPECT_EQ(UnescapePointerToken(EscapePointerToken(token)), token);
    auto pointer = JsonPointer::Parse("/x/" + EscapePointerToken(token));
    ASSERT_TRUE(pointer.has_value());
    EXPECT_EQ(pointer->last(), token);
    EXPECT_EQ(JsonPointer::Parse(pointer->ToString())->tokens(), pointer->tokens());
  }
  EXPECT_EQ(EscapePointerToken("a/b~c"), "a~1b~0c");
}

TEST(JsonPointer, FindsTheContainer) {
  Value doc = Json(R"({"a":{"b":[{"c":1},[2]]},"n":null,"s":"x"})");
  auto parent = [&](const char* text) { return JsonPointer::Parse(text)->FindParent(doc); };
  EXPECT_EQ(parent("/a"), &doc);
  EXPECT_EQ(parent("/zzz"), &doc);
  EXPECT_EQ(parent("/a/b"), doc.Find("a"));
  EXPECT_EQ(parent("/a/b/9"), doc.At({"a", "b"}));
  EXPECT_EQ(parent("/a/b/0/c"), &doc.At({"a", "b"})->as_array()[0]);
  EXPECT_EQ(parent("/a/b/-1/0"), &doc.At({"a", "b"})->as_array()[1]);
  for (const char* nowhere : {"/z/a", "/n/a", "/s/a", "/a/b/2/c", "/a/b/-3/c", "/a/b/x/c",
                              "/a/b/0/c/d", "/a/b/-/c", "//x"}) {
    EXPECT_EQ(parent(nowhere), nullptr) << nowhere;
  }
}

TEST(ArrayIndex, ParsesLikeStrconvAtoi) {
  EXPECT_EQ(ParseArrayIndex("0").value, 0);
  EXPECT_EQ(ParseArrayIndex("007").value, 7);
  EXPECT_EQ(ParseArrayIndex("+7").value, 7);
  EXPECT_EQ(ParseArrayIndex("-1").value, -1);
  EXPECT_EQ(ParseArrayIndex("9223372036854775807").value, 9223372036854775807);
  for (const char* text :
       {"", "-", "+", "+-1", "-+1", "1x", "x", " 1", "1 ", "1.0", "1e1", "0x1"}) {
    EXPECT_FALSE(ParseArrayIndex(text).value) << text;
    EXPECT_FALSE(ParseArrayIndex(text).out_of_range) << text;
  }
  for (const char* text :
       {"9223372036854775808", "-9223372036854775809", "+99999999999999999999"}) {
    EXPECT_FALSE(ParseArrayIndex(text).value) << text;
    EXPECT_TRUE(ParseArrayIndex(text).out_of_range) << text;
  }
}

}  // namespace
}  // namespace cox::patch
