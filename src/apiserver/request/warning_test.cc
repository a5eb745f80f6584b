// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/warning.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

TEST(WarningHeaders, QuotesText) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain", R"(299 - "plain")"},
      {R"(say "hi" \o/)", R"(299 - "say \"hi\" \\o/")"},
      {"line\r\nSet-Cookie: x", R"(299 - "lineSet-Cookie: x")"},
      {std::string("nul\0del\x7f", 8), R"(299 - "nuldel")"},
      {"größer", R"(299 - "größer")"},
      {"", R"(299 - "")"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(WarningHeaders({text}), std::vector<std::string>{want});
  }
  EXPECT_TRUE(WarningHeaders({}).empty());
}

TEST(WarningHeaders, OneHeaderPerTextInOrder) {
  EXPECT_EQ(WarningHeaders({"a", "b"}), (std::vector<std::string>{"299 - \"a\"", "299 - \"b\""}));
}

TEST(WarningHeaders, TruncatesTextsIfTotalIsTooLong) {
  const std::string frame = "299 - \"\"";
  // Within the limit, texts stay complete.
  EXPECT_EQ(WarningHeaders({std::string(4096, 'x')})[0].size(), 4096 + frame.size());
  const auto headers = WarningHeaders({std::string(4000, 'x'), std::string(4000, 'y')});
  ASSERT_EQ(headers.size(), 2u);
  for (const std::string& header : headers) EXPECT_EQ(header.size(), 256 + frame.size());
}

TEST(WarningHeaders, OmitsTextsBeyondLimit) {
  const std::vector<std::string> texts(100, std::string(300, 'x'));
  EXPECT_EQ(WarningHeaders(texts).size(), 16u);  // of 256 characters each
}

TEST(WarningHeaders, TruncatesAtCharacterBoundary) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "ä";
  const std::string header = WarningHeaders({text})[0];
  EXPECT_EQ(header.size(), 2 * 256 + 8u);
  EXPECT_TRUE(header.ends_with("ä\""));
}

}  // namespace
}  // namespace cox::apiserver
