// SPDX-License-Identifier: Apache-2.0
#include "net/accept.h"

#include <gtest/gtest.h>

#include <string>

namespace cox::net {
namespace {

// "type|name=value|...@quality", one per alternative, separated by blanks.
std::string Show(std::string_view header) {
  std::string text;
  for (const MediaRange& range : ParseAccept(header)) {
    if (!text.empty()) text += ' ';
    text += range.type;
    for (const auto& [name, value] : range.parameters) {
      text.append("|").append(name).append("=").append(value);
    }
    if (range.quality != 1.0) text += "@" + std::to_string(range.quality).substr(0, 3);
  }
  return text;
}

TEST(ParseAccept, OrdersAlternativesByQualityThenByPosition) {
  const struct {
    std::string_view header, want;
  } kCases[] = {
      {"", ""},
      {" , ,", ""},
      {"application/json", "application/json"},
      {"a/b;q=0.1,c/d;q=0.9,e/f", "e/f c/d@0.9 a/b@0.1"},
      {"a/b,c/d,e/f", "a/b c/d e/f"},
      {" a/b ; x = 1 ; y ", "a/b|x=1|y="},
      {"a/b;as=Table;v=v1;g=meta.k8s.io,a/b", "a/b|as=Table|v=v1|g=meta.k8s.io a/b"},
      {"a/b;q=fast", "a/b"},
      {"a/b;q=", "a/b"},
      {"a/b;;=;q=0.5", "a/b@0.5"},
      {"no type at all", "no type at all"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Show(c.header), c.want) << c.header;
}

TEST(MediaRange, ParameterReturnsTheLastOfThatName) {
  const MediaRange range = ParseMediaRange("a/b;v=1;v=2;w");
  EXPECT_EQ(range.Parameter("v"), "2");
  EXPECT_EQ(range.Parameter("w"), "");
  EXPECT_EQ(range.Parameter("x"), "");
}

TEST(AcceptsGzip, IfGzipIsListedWithNonzeroQuality) {
  const struct {
    std::string_view header;
    bool want;
  } kCases[] = {
      {"", false},         {"gzip", true},        {"deflate, gzip", true}, {"gzip;q=0.5, br", true},
      {"gzip;q=0", false}, {"gzip;q=0.0", false}, {"gzip; q=0", false},    {"xgzip", false},
      {"identity", false},
  };
  for (const auto& c : kCases) EXPECT_EQ(AcceptsGzip(c.header), c.want) << c.header;
}

}  // namespace
}  // namespace cox::net
