// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/rebase.h"

#include <gtest/gtest.h>

#include <random>

#include "api/core/v1.h"
#include "base/check.h"
#include "object/codec/json/json.h"

namespace cox::sdk {
namespace {

Value Json(std::string_view text) {
  Result<Value> value = json::Parse(text);
  COX_CHECK_OK(value.status());
  return *std::move(value);
}

TEST(RebaseTest, KeepsFieldsThatTheHandlerDidNotChange) {
  struct Case {
    const char* name;
    const char* sent;
    const char* before;
    const char* after;
    const char* wanted;
  };
  const Case cases[] = {
      {"nothing changed", R"({"a":1,"x":2})", R"({"a":1,"s":{}})", R"({"a":1,"s":{}})",
       R"({"a":1,"x":2})"},
      {"a member set", R"({"x":2})", R"({})", R"({"a":1})", R"({"a":1,"x":2})"},
      {"a member changed", R"({"a":1,"x":2})", R"({"a":1})", R"({"a":3})", R"({"a":3,"x":2})"},
      {"a member gone", R"({"a":1,"x":2})", R"({"a":1})", R"({})", R"({"x":2})"},
      {"shown but never sent", R"({"x":2})", R"({"r":{}})", R"({"r":{"l":1}})",
       R"({"r":{"l":1},"x":2})"},
      {"sent but not shown", R"({"r":{"x":2}})", R"({})", R"({"r":{"l":1}})",
       R"({"r":{"l":1,"x":2}})"},
      {"sent as null", R"({"r":null})", R"({})", R"({"r":[1]})", R"({"r":[1]})"},
      {"an item put before another", R"([{"name":"a","x":1}])", R"([{"name":"a"}])",
       R"([{"name":"b"},{"name":"a"}])", R"([{"name":"b"},{"name":"a","x":1}])"},
      {"an item put before one that changed", R"([{"name":"a","x":1}])", R"([{"name":"a"}])",
       R"([{"name":"b"},{"name":"a","i":2}])", R"([{"name":"b"},{"i":2,"name":"a","x":1}])"},
      {"an item taken out", R"([{"name":"a","x":1},{"name":"b","x":2}])",
       R"([{"name":"a"},{"name":"b"}])", R"([{"name":"b"}])", R"([{"name":"b","x":2}])"},
      {"a list that was read otherwise", R"([1,2,3])", R"([1])", R"([1,4])", R"([1,4])"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(json::Write(Rebase(Json(test.sent), Json(test.before), Json(test.after))),
              test.wanted);
  }
}

TEST(RebaseTest, KeepsUnknownFieldsOfStructs) {
  const Value sent = Json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
      "spec":{"containers":[{"name":"main","image":"i","ofTheFuture":{"deep":[1]}}]}})");
  Result<core::v1::Pod> pod = json::FromValue<core::v1::Pod>(sent);
  ASSERT_TRUE(pod.ok());
  const Value before = json::ToValue(*pod);
  pod->spec.containers.insert(pod->spec.containers.begin(), {.name = "proxy", .image = "p"});
  pod->spec.containers[1].image = "other";
  pod->metadata.labels["a/b"] = "c";
  const Value after = Rebase(sent, before, json::ToValue(*pod));
  const Value::Array& containers = after.At({"spec", "containers"})->as_array();
  ASSERT_EQ(containers.size(), 2U);
  EXPECT_EQ(json::Write(containers[1]),
            R"({"image":"other","name":"main","ofTheFuture":{"deep":[1]}})");
  EXPECT_EQ(after.Find("status"), nullptr);
}

// A document with few distinct values, so that items are often equal or reordered.
Value Random(std::mt19937& random, int depth) {
  const auto below = [&random](unsigned n) { return random() % n; };
  if (depth == 0 || below(3) == 0) return Value(static_cast<int64_t>(below(3)));
  if (below(2) == 0) {
    Value::Array items;
    for (unsigned i = below(5); i > 0; --i) items.push_back(Random(random, depth - 1));
    return Value(std::move(items));
  }
  Value object = Value::MakeObject();
  for (const char* key : {"name", "b/~", "c"}) {
    if (below(2) == 0) object.as_object()[key] = Random(random, depth - 1);
  }
  if (below(2) == 0) object.as_object()["name"] = below(2) == 0 ? "x" : "y";
  return object;
}

TEST(RebaseTest, ReturnsAfterIfNoFieldsAreHidden) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const Value before = Random(random, 4);
    const Value after = Random(random, 4);
    ASSERT_EQ(Rebase(before, before, after), after)
        << json::Write(before) << " -> " << json::Write(after);
  }
}

}  // namespace
}  // namespace cox::sdk
