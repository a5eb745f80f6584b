// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/text.h"

#include <gtest/gtest.h>

namespace cox::json {
namespace {

TEST(Base64, RoundTripsEveryLength) {
  for (size_t length = 0; length < 100; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(i * 37 + length));
    std::string text;
    WriteBase64(bytes, &text);
    EXPECT_EQ(text.size() % 4, 0u);
    std::string again;
    size_t bad_at;
    ASSERT_TRUE(ReadBase64(text, &again, &bad_at)) << text;
    EXPECT_EQ(again, bytes);
  }
}

TEST(Base64, ErrorsContainTheOffset) {
  struct {
    const char* text;
    size_t bad_at;
  } cases[] = {
      {"!", 0}, {"AA!A", 2}, {"A", 0},    {"AA", 0},    {"AAA", 0}, {"AAAAA", 4},
      {"=", 0}, {"A=", 1},   {"AA=A", 3}, {"AA==A", 4}, {"AA=", 3},
  };
  for (const auto& c : cases) {
    std::string bytes;
    size_t bad_at = 99;
    EXPECT_FALSE(ReadBase64(c.text, &bytes, &bad_at)) << c.text;
    EXPECT_EQ(bad_at, c.bad_at) << c.text;
  }
}

TEST(Base64, LineBreaksAreSkipped) {
  std::string bytes;
  size_t bad_at;
  ASSERT_TRUE(ReadBase64("aGVs\r\nbG8=\n", &bytes, &bad_at));
  EXPECT_EQ(bytes, "hello");
}

TEST(Compact, DropsSpaceOutsideOfStringsOnly) {
  std::string out;
  WriteCompact("{ \"a b\" : [ 1 , \"\\\" x\" ],\n\t\"c\":\"<&>\" }", &out);
  EXPECT_EQ(out, "{\"a b\":[1,\"\\\" x\"],\"c\":\"\\u003c\\u0026\\u003e\"}");
}

}  // namespace
}  // namespace cox::json
