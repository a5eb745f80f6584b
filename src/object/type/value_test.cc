// SPDX-License-Identifier: Apache-2.0
#include "object/type/value.h"

#include <compare>

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox {
namespace {

TEST(Value, IsSmall) { EXPECT_EQ(sizeof(Value), 16u); }

TEST(Value, StringsInlineAndOnTheHeap) {
  for (size_t length : {0, 1, 7, 8, 9, 100}) {
    std::string text(length, 'x');
    Value value(text);
    Value copy = value;
    Value moved = std::move(value);
    EXPECT_EQ(copy.as_string(), text);
    EXPECT_EQ(moved.as_string(), text);
    EXPECT_TRUE(value.is_null());  // NOLINT: what moving leaves is promised
  }
}

TEST(Value, CopiesAreDeep) {
  Value a = Value::MakeObject({{"list", Value::MakeArray({1, "two", nullptr})}, {"n", 1.5}});
  Value b = a;
  b.as_object()["list"].as_array().push_back(true);
  EXPECT_EQ(json::Write(a), R"({"list":[1,"two",null],"n":1.5})");
  EXPECT_EQ(json::Write(b), R"({"list":[1,"two",null,true],"n":1.5})");
}

TEST(Value, AssigningAPartOfItselfIsSafe) {
  Value v = Value::MakeObject({{"a", Value::MakeObject({{"b", "a string beyond eight bytes"}})}});
  v = std::move(v.as_object()["a"]);
  EXPECT_EQ(json::Write(v), R"({"b":"a string beyond eight bytes"})");
  v = *v.Find("b");
  EXPECT_EQ(v.as_string(), "a string beyond eight bytes");
  Value& same = v;
  v = same;
  EXPECT_EQ(v.as_string(), "a string beyond eight bytes");
}

TEST(Value, FindAndAt) {
  Value v = Value::MakeObject(
      {{"metadata", Value::MakeObject({{"labels", Value::MakeObject({{"app", "x"}})}})}});
  ASSERT_NE(v.At({"metadata", "labels", "app"}), nullptr);
  EXPECT_EQ(v.At({"metadata", "labels", "app"})->as_string(), "x");
  EXPECT_EQ(v.At({"metadata", "none", "app"}), nullptr);
  EXPECT_EQ(v.Find("none"), nullptr);
  EXPECT_EQ(Value(1).Find("x"), nullptr);
}

TEST(Value, NumbersCompareAsNumbers) {
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(1.5));
  // A double cannot represent 2^53 + 1, so it equals only itself.
  EXPECT_NE(Value(int64_t{9007199254740993}), Value(9007199254740992.0));
  EXPECT_EQ(Compare(Value(int64_t{9007199254740993}), Value(9007199254740992.0)),
            std::strong_ordering::greater);
  EXPECT_EQ(Compare(Value(INT64_MAX), Value(9.3e18)), std::strong_ordering::less);
  EXPECT_EQ(Compare(Value(-9.3e18), Value(INT64_MIN)), std::strong_ordering::less);
  EXPECT_EQ(Compare(Value(-1), Value(-1.5)), std::strong_ordering::greater);
}

TEST(Value, OrderIsTotal) {
  const Value rising[] = {nullptr,
                          false,
                          true,
                          -1,
                          0.5,
                          1,
                          "",
                          "a",
                          "b",
                          Value::MakeArray(),
                          Value::MakeArray({1}),
                          Value::MakeArray({2}),
                          Value::MakeObject(),
                          Value::MakeObject({{"a", 1}}),
                          Value::MakeObject({{"a", 2}}),
                          Value::MakeObject({{"b", 0}})};
  for (size_t i = 0; i < std::size(rising); ++i) {
    for (size_t j = 0; j < std::size(rising); ++j) {
      EXPECT_EQ(Compare(rising[i], rising[j]), i <=> j)
          << json::Write(rising[i]) << json::Write(rising[j]);
      EXPECT_EQ(rising[i] == rising[j], i == j);
    }
  }
}

TEST(ValueObject, IsSortedForAnyOrderOfInsertion) {
  ValueObject object;
  for (const char* key : {"m", "z", "a", "n", "b"}) object[key] = key;
  EXPECT_EQ(json::Write(object), R"({"a":"a","b":"b","m":"m","n":"n","z":"z"})");
  EXPECT_TRUE(object.Erase("m"));
  EXPECT_FALSE(object.Erase("m"));
  EXPECT_FALSE(object.contains("m"));
  object["n"] = 2;
  EXPECT_EQ(object.size(), 4u);
}

TEST(ValueObject, SealKeepsTheLastOfEqualKeys) {
  ValueObject object;
  for (int i = 0; i < 5; ++i) {
    object.Append("b", i);
    object.Append("a", i);
  }
  EXPECT_FALSE(object.Seal());
  EXPECT_EQ(json::Write(object), R"({"a":4,"b":4})");
  EXPECT_TRUE(object.Seal());
}

}  // namespace
}  // namespace cox
