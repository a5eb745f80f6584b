// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "object/selector/label_view.h"

namespace cox::storage {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs All(const HeadPairs& pairs) {
  Pairs all;
  for (const auto& [name, value] : pairs) all.emplace_back(name, value);
  return all;
}

struct Case {
  const char* what;
  std::string uid;
  Pairs labels;
  std::vector<std::pair<size_t, std::string>> fields;
};

TEST(HeadTest, RoundTripsUidLabelsAndFields) {
  const HeadPairs::Names names{"spec.nodeName", "status.phase", "spec.host"};
  const Case cases[] = {
      {"nothing", "", {}, {}},
      {"labels only", "11111111-2222-3333-4444-555555555555", {{"app", "web"}, {"tier", ""}}, {}},
      {"all fields", "a", {}, {{0, "n1"}, {1, "Running"}, {2, ""}}},
      {"a field in the middle", "a", {{"app", "web"}}, {{1, "Running"}}},
      {"long values",
       std::string(300, 'u'),
       {{"app", std::string(5000, 'x')}},
       {{2, std::string(200, 'y')}}},
  };
  HeadBuilder builder(names.size());  // reused, as in the cache
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    for (const auto& [key, value] : c.labels) builder.Label(key, value);
    Pairs fields;
    for (const auto& [index, value] : c.fields) {
      builder.Field(index, value);
      fields.emplace_back(names[index], value);
    }
    builder.Uid(c.uid);
    const std::string packed(builder.Finish());
    EXPECT_EQ(UidOf(packed.data()), c.uid);
    EXPECT_EQ(All(LabelsOf(packed.data())), c.labels);
    EXPECT_EQ(All(FieldsOf(packed.data(), names)), fields);
  }
}

TEST(HeadTest, BuilderKeepsNothingOfThePreviousObject) {
  HeadBuilder builder(1);
  builder.Uid("a");
  builder.Label("app", "web");
  builder.Field(0, "n1");
  (void)builder.Finish();
  const std::string packed(builder.Finish());
  EXPECT_EQ(UidOf(packed.data()), "");
  EXPECT_THAT(All(LabelsOf(packed.data())), testing::IsEmpty());
  EXPECT_THAT(All(FieldsOf(packed.data(), {"spec.nodeName"})), testing::IsEmpty());
}

TEST(HeadTest, AbsentFieldsDifferFromEmptyOnes) {
  const HeadPairs::Names names{"a", "b"};
  HeadBuilder builder(names.size());
  builder.Field(1, "");
  const std::string packed(builder.Finish());
  const HeadPairs fields = FieldsOf(packed.data(), names);
  EXPECT_EQ(fields("a"), std::nullopt);
  EXPECT_EQ(fields("b"), "");
  EXPECT_EQ(fields("c"), std::nullopt);
}

TEST(HeadTest, ServesAsLabelView) {
  HeadBuilder builder(0);
  builder.Label("app", "web");
  const std::string packed(builder.Finish());
  const HeadPairs labels = LabelsOf(packed.data());
  const LabelView view(labels);
  EXPECT_EQ(view.Get("app"), "web");
  EXPECT_FALSE(view.Has("ap"));
}

}  // namespace
}  // namespace cox::storage
