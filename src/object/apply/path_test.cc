// SPDX-License-Identifier: Apache-2.0
#include "object/apply/path.h"

#include <gtest/gtest.h>

#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

PathElement Key(std::string_view json) { return PathElement::Key(J(json).as_object()); }

TEST(PathTest, PrintsTheTextOfConflicts) {
  struct {
    Path path;
    std::string_view text;
  } const cases[] = {
      {{PathElement::Field("spec"), PathElement::Field("containers"), Key("{'name':'web'}"),
        PathElement::Field("image")},
       R"(.spec.containers[name="web"].image)"},
      {{Key("{'protocol':'TCP','containerPort':80}")}, R"([containerPort=80,protocol="TCP"])"},
      {{PathElement::Item("a\n")}, R"([="a\n"])"},
      {{PathElement::Item(Value(true))}, "[=true]"},
      {{PathElement::Item(1.5)}, "[=1.5]"},
      {{PathElement::Item(Value())}, "[=null]"},
      {{PathElement::Item(J("[1,'x']"))}, R"([=[1,"x"]])"},
      {{PathElement::Index(3)}, "[3]"},
      {{Key("{}")}, "[]"},
      {{PathElement::Field("")}, "."},
      {{}, ""},
  };
  for (const auto& c : cases) EXPECT_EQ(PathText(c.path), c.text);
}

TEST(PathTest, ElementsAreOrderedAsInFieldsV1) {
  const PathElement rising[] = {
      PathElement::Field(""),
      PathElement::Field("a"),
      PathElement::Field("b"),
      Key("{}"),
      Key("{'a':1}"),
      Key("{'a':1,'b':1}"),
      Key("{'a':2}"),
      Key("{'a':'x'}"),
      PathElement::Item(-1),
      PathElement::Item(2),
      PathElement::Item(2.5),
      PathElement::Item(10),
      PathElement::Item("a"),
      PathElement::Item(Value(false)),
      PathElement::Item(Value(true)),
      PathElement::Item(J("[]")),
      PathElement::Item(J("[1]")),
      PathElement::Item(J("{'a':1}")),
      PathElement::Item(Value()),
      PathElement::Index(0),
      PathElement::Index(1),
  };
  for (size_t i = 0; i < std::size(rising); ++i) {
    for (size_t j = 0; j < std::size(rising); ++j) {
      EXPECT_EQ(rising[i] <=> rising[j], i <=> j) << i << " " << j;
    }
  }
}

TEST(PathTest, EqualNumbersAreOneElement) {
  EXPECT_EQ(PathElement::Item(2), PathElement::Item(2.0));
}

TEST(PathTest, ComparesWithNames) {
  EXPECT_TRUE(PathElement::Compare(PathElement::Field("a"), "b") < 0);
  EXPECT_TRUE(PathElement::Compare(PathElement::Field("b"), "b") == 0);
  EXPECT_TRUE(PathElement::Compare(PathElement::Index(0), "b") > 0);
}

}  // namespace
}  // namespace cox::apply
