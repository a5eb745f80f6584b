// SPDX-License-Identifier: Apache-2.0
#include "object/selector/fields.h"

#include <gtest/gtest.h>

#include <map>

namespace cox::fields {
namespace {

using Fields = std::map<std::string, std::string>;

Selector S(std::string_view text) {
  Result<Selector> selector = Selector::Parse(text);
  EXPECT_TRUE(selector.ok()) << text << ": " << selector.status().ToString();
  return selector.ok() ? *selector : Selector();
}

std::string Show(const Selector& selector) {
  std::string out;
  for (const Requirement& r : selector.requirements()) {
    out.append("[").append(r.field).append(r.equal ? "|=|" : "|!=|").append(r.value).append("]");
  }
  return out;
}

// The expected results are those of upstream's parser.
TEST(FieldSelector, ToStringIsCanonical) {
  struct Case {
    std::string_view text, canonical, requirements;
  };
  const Case kCases[] = {
      {"", "", ""},
      {"a=b", "a=b", "[a|=|b]"},
      {"a==b", "a=b", "[a|=|b]"},
      {"a!=b", "a!=b", "[a|!=|b]"},
      {"a=b,c!=d", "a=b,c!=d", "[a|=|b][c|!=|d]"},
      {"c!=d,a=b", "a=b,c!=d", "[a|=|b][c|!=|d]"},
      {"a=", "a=", "[a|=|]"},
      {"=b", "=b", "[|=|b]"},
      {"metadata.name=x,status.phase!=Running", "metadata.name=x,status.phase!=Running",
       "[metadata.name|=|x][status.phase|!=|Running]"},
      {"a=b\\,c", "a=b\\,c", "[a|=|b,c]"},
      {"a=b\\=c", "a=b\\=c", "[a|=|b=c]"},
      {"a=b\\\\c", "a=b\\\\c", "[a|=|b\\c]"},
      {"a\\,b=c", "a\\,b=c", "[a\\,b|=|c]"},
      {"a=b,", "a=b", "[a|=|b]"},
      {"a=b,,c=d", "a=b,c=d", "[a|=|b][c|=|d]"},
      {",a=b", "a=b", "[a|=|b]"},
      {",", "", ""},
      {"a = b", "a = b", "[a |=| b]"},
      {" a=b ", " a=b ", "[ a|=|b ]"},
      {"a=b\012c", "a=b\012c", "[a|=|b\012c]"},
      {"a= b", "a= b", "[a|=| b]"},
      {"a=\303\251", "a=\303\251", "[a|=|\303\251]"},
      {"!=b", "!=b", "[|!=|b]"},
      {"==b", "=b", "[|=|b]"},
      {"a=!b", "a=!b", "[a|=|!b]"},
      {"a!=", "a!=", "[a|!=|]"},
      {"a==", "a=", "[a|=|]"},
      {"a=b;c", "a=b;c", "[a|=|b;c]"},
      {"a=\"b\"", "a=\"b\"", "[a|=|\"b\"]"},
      {"a=b\\,,c=d", "a=b\\,,c=d", "[a|=|b,][c|=|d]"},
      {"spec.nodeName=", "spec.nodeName=", "[spec.nodeName|=|]"},
      {"a=b\\\\,c=d", "a=b\\\\,c=d", "[a|=|b\\][c|=|d]"},
      {"a=\377", "a=\377", "[a|=|\377]"},
      {"a\\b=c", "a\\b=c", "[a\\b|=|c]"},
      {"a!=b,a=b", "a!=b,a=b", "[a|!=|b][a|=|b]"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(S(c.text).ToString(), c.canonical) << c.text;
    EXPECT_EQ(Show(S(c.text)), c.requirements) << c.text;
    EXPECT_EQ(S(c.canonical), S(c.text)) << c.text;
  }
}

TEST(FieldSelector, ParseErrorsMatchUpstream) {
  struct Case {
    std::string_view text, error;
  };
  const Case kCases[] = {
      {"a", "invalid selector: 'a'; can't understand 'a'"},
      {"a,b", "invalid selector: 'a,b'; can't understand 'a'"},
      {"a=b=c", "invalid field selector: unescaped character in value: 61"},
      {"a==b=c", "invalid field selector: unescaped character in value: 61"},
      {"a!=b!=c", "invalid field selector: unescaped character in value: 61"},
      {"a!b", "invalid selector: 'a!b'; can't understand 'a!b'"},
      {"a=b\\c", "invalid field selector: invalid escape sequence: \\c"},
      {"a=b\\", "invalid field selector: invalid escape sequence: \\"},
      {"a\\=b=c", "invalid field selector: unescaped character in value: 61"},
      {" ", "invalid selector: ' '; can't understand ' '"},
      {"a=b\\!", "invalid field selector: invalid escape sequence: \\!"},
      {"a===b", "invalid field selector: unescaped character in value: 61"},
      {"a=b\\\\\\,c=d", "invalid field selector: unescaped character in value: 61"},
  };
  for (const Case& c : kCases) {
    Result<Selector> selector = Selector::Parse(c.text);
    ASSERT_FALSE(selector.ok()) << c.text << " is " << selector->ToString();
    EXPECT_EQ(selector.status().message(), c.error);
    EXPECT_TRUE(selector.status().Is(Reason::kBadRequest));
  }
}

TEST(FieldSelector, MissingFieldCountsAsEmpty) {
  struct Case {
    std::string_view text;
    bool none, a, a_and_c;
  };
  const Case kCases[] = {
      {"", true, true, true},     {"a=b,c!=d", false, true, false}, {"a=", true, false, false},
      {"a!=", false, true, true}, {"c!=d", true, true, false},
  };
  for (const Case& c : kCases) {
    const Selector selector = S(c.text);
    EXPECT_EQ(selector.Matches(Fields{}), c.none) << c.text;
    EXPECT_EQ(selector.Matches(Fields{{"a", "b"}}), c.a) << c.text;
    EXPECT_EQ(selector.Matches(Fields{{"a", "b"}, {"c", "d"}}), c.a_and_c) << c.text;
    EXPECT_EQ(selector.Empty(), c.text.empty());
  }
}

TEST(FieldSelector, EverythingAndNothing) {
  EXPECT_TRUE(Selector::Everything().Matches(Fields{}));
  EXPECT_FALSE(Selector::Nothing().Matches(Fields{}));
  EXPECT_FALSE(Selector::Nothing().Empty());
  EXPECT_EQ(Selector::Nothing().ToString(), "");
}

TEST(FieldSelector, RequiresExactMatchReturnsTheRequiredValue) {
  const Selector selector = S("metadata.name=web,status.phase!=Running");
  EXPECT_EQ(selector.RequiresExactMatch("metadata.name"), "web");
  EXPECT_EQ(selector.RequiresExactMatch("status.phase"), std::nullopt);
  EXPECT_EQ(selector.RequiresExactMatch("x"), std::nullopt);
}

TEST(FieldSelector, EscapesSyntaxCharacters) {
  EXPECT_EQ(EscapeValue("a=b,c\\d"), "a\\=b\\,c\\\\d");
  EXPECT_EQ(UnescapeValue(EscapeValue("a=b,c\\d")).value(), "a=b,c\\d");
  EXPECT_EQ(Selector::OneTermEqual("a", "b,c").ToString(), "a=b\\,c");
  EXPECT_EQ(Selector::OneTermNotEqual("a", "b").ToString(), "a!=b");
}

TEST(FieldSelector, TransformRenamesDropsAndRejects) {
  using Pair = std::pair<std::string, std::string>;
  const Selector selector = S("a=b,c!=d");
  Result<Selector> renamed =
      selector.Transform([](const std::string& f, const std::string& v) -> Result<Pair> {
        return f == "a" ? Pair{} : Pair{"X" + f, v + "Y"};
      });
  EXPECT_EQ(renamed->ToString(), "Xc!=dY");
  Result<Selector> refused =
      selector.Transform([](const std::string& f, const std::string&) -> Result<Pair> {
        return Status::BadRequest("boom " + f);
      });
  EXPECT_EQ(refused.status().message(), "boom a");
  Result<Selector> dropped = selector.Transform(
      [](const std::string&, const std::string&) -> Result<Pair> { return Pair{}; });
  EXPECT_TRUE(dropped->Empty());
  EXPECT_TRUE(
      Selector::Nothing()
          .Transform([](const std::string&, const std::string&) -> Result<Pair> { return Pair{}; })
          ->SelectsNothing());
}

}  // namespace
}  // namespace cox::fields
