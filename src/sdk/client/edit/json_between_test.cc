// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "coxswain/options.h"
#include "object/codec/json/json.h"
#include "object/patch/json_patch.h"

namespace cox {
namespace {

struct Case {
  std::string_view before, after, patch;
};

constexpr Case kCases[] = {
    {"{}", "{}", ""},
    {R"({"a":1})", R"({"a":1})", ""},
    {R"({"a":1})", R"({"a":2})", R"([{"op":"replace","path":"/a","value":2}])"},
    {R"({})", R"({"a":{"b":[]}})", R"([{"op":"add","path":"/a","value":{"b":[]}}])"},
    {R"({"a":1,"b":2})", R"({"b":2})", R"([{"op":"remove","path":"/a"}])"},
    {R"({"a":null})", R"({"a":0})", R"([{"op":"replace","path":"/a","value":0}])"},
    {R"({"a/b":{"c~d":1}})", R"({"a/b":{"c~d":2}})",
     R"([{"op":"replace","path":"/a~1b/c~0d","value":2}])"},
    {R"({"a":[1,2,3]})", R"({"a":[1,2,3,4]})", R"([{"op":"add","path":"/a/3","value":4}])"},
    {R"({"a":[1,2,3]})", R"({"a":[0,1,2,3]})", R"([{"op":"add","path":"/a/0","value":0}])"},
    {R"({"a":[1,2,3]})", R"({"a":[1,3]})", R"([{"op":"remove","path":"/a/1"}])"},
    {R"({"a":[1,2,3]})", R"({"a":[]})",
     R"([{"op":"remove","path":"/a/2"},{"op":"remove","path":"/a/1"},{"op":"remove","path":"/a/0"}])"},
    {R"({"a":[{"n":"x","v":1},{"n":"y"}]})", R"({"a":[{"n":"x","v":2},{"n":"y"},{"n":"z"}]})",
     R"([{"op":"replace","path":"/a/0/v","value":2},{"op":"add","path":"/a/2","value":{"n":"z"}}])"},
    {R"({"a":[1,1,1]})", R"({"a":[1,1]})", R"([{"op":"remove","path":"/a/2"}])"},
    {R"({"a":{}})", R"({"a":[]})", R"([{"op":"replace","path":"/a","value":[]}])"},
    {R"({"a":1})", "[]", R"([{"op":"replace","path":"","value":[]}])"},
};

TEST(JsonBetweenTest, PatchTransformsOneDocumentIntoTheOther) {
  for (const Case& c : kCases) {
    const Value before = *json::Parse(c.before);
    const Value after = *json::Parse(c.after);
    const Patch patch = Patch::JsonBetween(before, after);
    EXPECT_EQ(patch.type, patch::PatchType::kJson);
    EXPECT_EQ(patch.body, c.patch) << c.before << " to " << c.after;
    EXPECT_EQ(patch.empty(), before == after);
    if (patch.empty()) continue;
    const Result<patch::JsonPatch> parsed = patch::ParseJsonPatch(patch.body);
    ASSERT_TRUE(parsed.ok()) << patch.body;
    const Result<Value> applied = patch::ApplyJsonPatch(before, *parsed);
    ASSERT_TRUE(applied.ok()) << applied.status().ToString();
    EXPECT_EQ(*applied, after) << patch.body;
  }
}

// All pairs of lists of up to four items from three values.
TEST(JsonBetweenTest, PatchIsCorrectForAllPairsOfLists) {
  std::vector<Value> lists = {Value::MakeArray()};
  for (size_t i = 0; i < lists.size() && lists[i].as_array().size() < 4; ++i) {
    for (int item = 0; item < 3; ++item) {
      Value longer = lists[i];
      longer.as_array().emplace_back(item);
      lists.push_back(std::move(longer));
    }
  }
  for (const Value& before : lists) {
    for (const Value& after : lists) {
      const Value from = Value::MakeObject({{"l", before}});
      const Patch patch = Patch::JsonBetween(from, Value::MakeObject({{"l", after}}));
      if (patch.empty()) {
        ASSERT_EQ(before, after);
        continue;
      }
      const Result<Value> applied = patch::ApplyJsonPatch(from, *patch::ParseJsonPatch(patch.body));
      ASSERT_TRUE(applied.ok()) << patch.body;
      ASSERT_EQ(*applied->Find("l"), after) << patch.body;
    }
  }
}

}  // namespace
}  // namespace cox
