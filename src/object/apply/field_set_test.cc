// SPDX-License-Identifier: Apache-2.0
#include "object/apply/field_set.h"

#include <gtest/gtest.h>

#include "object/apply/fields_v1.h"
#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

FieldSet Set(std::string_view json) {
  Result<FieldSet> set = FieldsV1FromValue(J(json));
  EXPECT_TRUE(set.ok()) << set.status().ToString();
  return set.value_or(FieldSet());
}

std::string Text(const FieldSet& set) { return WriteFieldsV1(set); }

Path P(std::initializer_list<std::string_view> names) {
  Path path;
  for (std::string_view name : names) path.push_back(PathElement::Field(name));
  return path;
}

TEST(FieldSetTest, ContainsInsertedPaths) {
  FieldSet set;
  EXPECT_TRUE(set.Empty());
  set.Insert(P({"b"}));
  set.Insert(P({"a", "x"}));
  set.Insert(P({"a", "x"}));
  EXPECT_EQ(set.Size(), 2u);
  EXPECT_TRUE(set.Has(P({"b"})));
  EXPECT_TRUE(set.Has(P({"a", "x"})));
  EXPECT_FALSE(set.Has(P({"a"})));
  EXPECT_FALSE(set.Has(P({"b", "x"})));
  EXPECT_FALSE(set.Has(P({"c"})));
  EXPECT_FALSE(set.Has(Path{}));
  EXPECT_EQ(set, FieldSet({P({"a", "x"}), P({"b"})}));
}

TEST(FieldSetTest, CombinesSets) {
  struct {
    std::string_view a, b, both, common, difference, recursive;
  } const cases[] = {
      {"{}", "{}", "{}", "{}", "{}", "{}"},
      {"{'f:a':{}}", "{}", "{'f:a':{}}", "{}", "{'f:a':{}}", "{'f:a':{}}"},
      {"{}", "{'f:a':{}}", "{'f:a':{}}", "{}", "{}", "{}"},
      {"{'f:a':{},'f:b':{}}", "{'f:b':{},'f:c':{}}", "{'f:a':{},'f:b':{},'f:c':{}}", "{'f:b':{}}",
       "{'f:a':{}}", "{'f:a':{}}"},
      // A path and the paths below it are different members.
      {"{'f:a':{'f:b':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:b':{}}}", "{}", "{'f:a':{'f:b':{}}}",
       "{}"},
      {"{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}",
       "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:c':{}}}",
       "{'f:a':{'.':{},'f:c':{}}}"},
      {"{'f:a':{'f:b':{'f:c':{}}},'v:1':{}}", "{'f:a':{'f:b':{}},'v:1':{}}",
       "{'f:a':{'f:b':{'.':{},'f:c':{}}},'v:1':{}}", "{'v:1':{}}", "{'f:a':{'f:b':{'f:c':{}}}}",
       "{}"},
  };
  for (const auto& c : cases) {
    FieldSet a = Set(c.a), b = Set(c.b);
    EXPECT_EQ(Text(a.Union(b)), Text(Set(c.both))) << c.a << c.b;
    EXPECT_EQ(Text(a.Intersection(b)), Text(Set(c.common))) << c.a << c.b;
    EXPECT_EQ(Text(a.Difference(b)), Text(Set(c.difference))) << c.a << c.b;
    EXPECT_EQ(Text(a.RecursiveDifference(b)), Text(Set(c.recursive))) << c.a << c.b;
    EXPECT_EQ(a.Union(b), b.Union(a));
    EXPECT_EQ(a.Intersection(b), b.Intersection(a));
  }
}

TEST(FieldSetTest, LeavesHaveNothingBelow) {
  EXPECT_EQ(Set("{'f:a':{'.':{},'f:b':{}},'f:c':{}}").Leaves(), Set("{'f:a':{'f:b':{}},'f:c':{}}"));
}

TEST(FieldSetTest, VisitsEachLevelBeforeTheNext) {
  std::vector<std::string> seen;
  Set("{'f:a':{'.':{},'f:c':{}},'f:b':{}}").ForEach([&](const Path& path) {
    seen.push_back(PathText(path));
  });
  EXPECT_EQ(seen, (std::vector<std::string>{".a", ".b", ".a.c"}));
}

TEST(FieldSetTest, FindsNodes) {
  FieldSet set = Set("{'f:a':{},'f:b':{'f:c':{}},'v:1':{}}");
  ASSERT_NE(set.FindField("b"), nullptr);
  EXPECT_FALSE(set.FindField("b")->member);
  EXPECT_EQ(set.FindField("c"), nullptr);
  ASSERT_NE(set.Find(PathElement::Item(1)), nullptr);
  EXPECT_EQ(set.Find(PathElement::Item(2)), nullptr);
}

TEST(FieldSetTest, RvalueOverloadsGiveTheSameResults) {
  const std::string_view sets[] = {
      "{}",
      "{'f:a':{}}",
      "{'f:a':{'.':{},'f:x':{},'f:y':{'f:z':{}}},'f:c':{}}",
      "{'f:a':{'f:x':{}},'f:b':{'f:x':{}},'f:c':{'f:y':{}}}",
      "{'f:b':{'k:{\\'name\\':\\'n\\'}':{'.':{},'f:v':{}},'v:1':{}}}",
  };
  for (std::string_view left : sets) {
    for (std::string_view right : sets) {
      const FieldSet a = Set(left), b = Set(right);
      EXPECT_EQ(FieldSet(a).Union(b), a.Union(b)) << left << right;
      EXPECT_EQ(FieldSet(a).Difference(b), a.Difference(b)) << left << right;
      EXPECT_EQ(FieldSet(a).RecursiveDifference(b), a.RecursiveDifference(b)) << left << right;
    }
  }
}

}  // namespace
}  // namespace cox::apply
