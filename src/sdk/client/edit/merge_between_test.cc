// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "coxswain/options.h"
#include "object/codec/json/json.h"

namespace cox {
namespace {

using core::v1::Pod;

Pod Sample() {
  Pod pod;
  pod.metadata.name = "web";
  pod.metadata.resourceVersion = "7";
  pod.metadata.labels["app"] = "web";
  pod.spec.containers.push_back({.name = "c", .image = "i"});
  pod.status.phase = "Pending";
  return pod;
}

struct Case {
  std::string name;
  std::function<void(Pod&)> change;
  std::string patch, optimistic;
};

TEST(MergeBetweenTest, ContainsOnlyTheChanges) {
  const std::vector<Case> cases = {
      {"nothing", [](Pod&) {}, "", ""},
      {"a scalar of status", [](Pod& p) { p.status.phase = "Running"; },
       R"({"status":{"phase":"Running"}})",
       R"({"metadata":{"resourceVersion":"7"},"status":{"phase":"Running"}})"},
      {"a scalar that is no more", [](Pod& p) { p.status.phase.clear(); },
       R"({"status":{"phase":null}})",
       R"({"metadata":{"resourceVersion":"7"},"status":{"phase":null}})"},
      {"labels",
       [](Pod& p) {
         p.metadata.labels = {{"tier", "x"}};
       },
       R"({"metadata":{"labels":{"app":null,"tier":"x"}}})",
       R"({"metadata":{"labels":{"app":null,"tier":"x"},"resourceVersion":"7"}})"},
      {"an optional", [](Pod& p) { p.spec.hostUsers = false; }, R"({"spec":{"hostUsers":false}})",
       R"({"metadata":{"resourceVersion":"7"},"spec":{"hostUsers":false}})"},
      {"a struct that is there now", [](Pod& p) { p.spec.securityContext.emplace(); },
       R"({"spec":{"securityContext":{}}})",
       R"({"metadata":{"resourceVersion":"7"},"spec":{"securityContext":{}}})"},
  };
  for (const Case& c : cases) {
    const Pod before = Sample();
    Pod after = Sample();
    c.change(after);
    const Patch patch = Patch::Between(before, after);
    EXPECT_EQ(patch.type, patch::PatchType::kMerge);
    EXPECT_EQ(patch.body, c.patch) << c.name;
    EXPECT_EQ(patch.empty(), c.patch.empty());
    EXPECT_EQ(Patch::Between(before, after, true).body, c.optimistic) << c.name;
    if (patch.empty()) continue;
    const Result<Pod> patched = patch::ApplyTo(patch.type, before, patch.body);
    ASSERT_TRUE(patched.ok());
    EXPECT_EQ(json::Encode(*patched), json::Encode(after)) << c.name;
  }
}

TEST(MergeBetweenTest, ListsAreReplacedAsAWhole) {
  Pod after = Sample();
  after.spec.containers.push_back({.name = "d"});
  const Value patch = *json::Parse(Patch::Between(Sample(), after).body);
  EXPECT_EQ(patch.At({"spec", "containers"})->as_array().size(), 2u);
  EXPECT_EQ(patch.Find("status"), nullptr);
}

TEST(MergeBetweenTest, PatchesTopLevelMapsAndPointers) {
  core::v1::ConfigMap before{.data = {{"a", "1"}}};
  core::v1::ConfigMap after = before;
  after.data = {};
  after.immutable = true;
  EXPECT_EQ(Patch::Between(before, after).body, R"({"data":{"a":null},"immutable":true})");
  EXPECT_EQ(Patch::Between(after, before).body, R"({"data":{"a":"1"},"immutable":null})");
}

TEST(MergeBetweenTest, PatchesDynamicValues) {
  const Value before = *json::Parse(R"({"metadata":{"resourceVersion":"3"},"spec":{"a":1,"b":2}})");
  const Value after = *json::Parse(R"({"metadata":{"resourceVersion":"3"},"spec":{"a":1}})");
  EXPECT_EQ(Patch::Between(before, after).body, R"({"spec":{"b":null}})");
  EXPECT_EQ(Patch::Between(before, after, true).body,
            R"({"metadata":{"resourceVersion":"3"},"spec":{"b":null}})");
  EXPECT_TRUE(Patch::Between(before, before, true).empty());
}

}  // namespace
}  // namespace cox
