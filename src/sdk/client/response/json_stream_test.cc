// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/json_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace cox::sdk {
namespace {

// The results of a stream as text: "key=text" for members, "[text]" for items, "." for ends, "!"
// for errors.
std::string Drain(JsonStream& stream) {
  std::string out;
  while (true) {
    switch (stream.Next()) {
      case Part::kMore:
        return out;
      case Part::kMember:
        out += stream.key() + "=" + std::string(stream.text()) + ";";
        break;
      case Part::kItem:
        out += "[" + std::string(stream.text()) + "];";
        break;
      case Part::kEnd:
        out += ".";
        break;
      case Part::kBroken:
        return out + "!";
    }
  }
}

struct Case {
  std::string_view text;
  std::string_view parts;
};

constexpr Case kCases[] = {
    {"", ""},
    {" \n ", ""},
    {"{}", "."},
    {"{}\n{ }\n", ".."},
    {R"({"a":1,"b":"x","c":{"d":[1,{}]}})", R"(a=1;b="x";c={"d":[1,{}]};.)"},
    {R"( { "a" : 1 , "b" : true } )", "a=1;b=true;."},
    {R"({"items":[]})", "."},
    {R"({"items":[{"a":"]}"},{"b":"\"]\\"},3,"x",[1,[2]]],"z":null})",
     R"([{"a":"]}"}];[{"b":"\"]\\"}];[3];["x"];[[1,[2]]];z=null;.)"},
    {R"({"items":null,"other":[1,2]})", "items=null;other=[1,2];."},
    {R"({"a":{"items":[1,2]}})", R"(a={"items":[1,2]};.)"},
    {R"({"a":"\\\"","b":2})", R"(a="\\\"";b=2;.)"},
    // Malformed documents.
    {"x", "!"},
    {"[1]", "!"},
    {"{1}", "!"},
    {R"({"a" 1})", "!"},
    {R"({"a":})", "!"},
    {R"({"a":1 2})", "a=1;!"},
    {R"({"a":1,})", "a=1;!"},
    {R"({"items":[,]})", "!"},
    {R"({"items":[1,]})", "[1];!"},
    {R"({"items":[1}})", "[1];!"},
    {R"({"items":[1]]})", "[1];!"},
    {"{}}", ".!"},
};

TEST(JsonStreamTest, ReturnsTheSamePartsForAllSplits) {
  for (const Case& c : kCases) {
    for (size_t first = 0; first <= c.text.size(); ++first) {
      for (size_t second = first; second <= c.text.size(); ++second) {
        JsonStream stream("items");
        std::string parts;
        for (const std::string_view piece :
             {c.text.substr(0, first), c.text.substr(first, second - first),
              c.text.substr(second)}) {
          stream.Feed(piece);
          if (!parts.ends_with('!')) parts += Drain(stream);
        }
        ASSERT_EQ(parts, c.parts) << c.text << " cut at " << first << " and " << second;
      }
    }
  }
}

TEST(JsonStreamTest, ReturnsTheSamePartsForSingleBytes) {
  for (const Case& c : kCases) {
    JsonStream stream("items");
    std::string parts;
    for (const char byte : c.text) {
      stream.Feed(std::string_view(&byte, 1));
      if (!parts.ends_with('!')) parts += Drain(stream);
    }
    EXPECT_EQ(parts, c.parts) << c.text;
  }
}

TEST(JsonStreamTest, BetweenIsFalseWhileADocumentIsOpen) {
  JsonStream stream;
  EXPECT_TRUE(stream.between());
  stream.Feed("{\"a\":1");
  EXPECT_EQ(Drain(stream), "");
  EXPECT_FALSE(stream.between());
  stream.Feed("}\n");
  EXPECT_EQ(Drain(stream), "a=1;.");
  EXPECT_TRUE(stream.between());
}

TEST(JsonStreamTest, RejectsValuesAboveTheLimit) {
  JsonStream stream("items", 100);
  stream.Feed("{\"items\":[");
  // The limit applies to each item, not to the sum.
  for (int i = 0; i < 100; ++i) {
    stream.Feed("\"0123456789\",");
    EXPECT_EQ(Drain(stream), "[\"0123456789\"];");
  }
  stream.Feed("\"" + std::string(80, 'x'));
  EXPECT_EQ(Drain(stream), "");
  stream.Feed(std::string(80, 'x'));
  EXPECT_EQ(Drain(stream), "!");
  stream.Feed("\"]}");
  EXPECT_EQ(Drain(stream), "!") << "stays broken";
}

}  // namespace
}  // namespace cox::sdk
