// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "controllers/lifecycle/garbagecollector/graph.h"
#include "object/testing/cost_meter.h"

namespace cox::controllers::gc {
namespace {

const GroupVersionKind kPod{"", "v1", "Pod"};
const GroupVersionKind kSet{"apps", "v1", "ReplicaSet"};

std::string Uid(int64_t number) {
  std::string digits = std::to_string(number);
  return "3f2a1c9e-7b4d-4e21-9c55-" + std::string(12 - digits.size(), '0') + digits;
}

meta::v1::ObjectMeta MakeSet(int number) {
  meta::v1::ObjectMeta meta;
  meta.name = "web-5d9c7b8f66-" + std::to_string(number);
  meta.namespace_ = "default";
  meta.uid = Uid(number);
  return meta;
}

meta::v1::ObjectMeta MakePod(int number, int set) {
  meta::v1::ObjectMeta meta;
  meta.name = "web-5d9c7b8f66-pod-" + std::to_string(number);
  meta.namespace_ = "default";
  meta.uid = Uid(1'000'000 + number);
  const meta::v1::ObjectMeta owner = MakeSet(set);
  meta.ownerReferences = {{.apiVersion = "apps/v1",
                           .kind = "ReplicaSet",
                           .name = owner.name,
                           .uid = owner.uid,
                           .controller = true,
                           .blockOwnerDeletion = true}};
  return meta;
}

// Scaled to 150,000 Pods, this allows 70 MB and a few seconds.
TEST(GraphCostTest, MemoryAndTimePerPodAreBounded) {
  constexpr int kPods = 50'000;
  Graph graph;
  const Cost cost = Measure([&graph] {
    for (int i = 0; i < kPods / 50; ++i) graph.Observe(kSet, MakeSet(i));
    for (int i = 0; i < kPods; ++i) graph.Observe(kPod, MakePod(i, i / 50));
  });
  EXPECT_LT(cost.bytes / kPods, 470);
  EXPECT_LT(cost.seconds, 1.0 * kSlow);
}

// One owner with many dependents, such as a large Job: each deletion takes constant time.
TEST(GraphCostTest, DeletionWithManyDependentsIsLinear) {
  constexpr int kPods = 50'000;
  Graph graph;
  graph.Observe(kSet, MakeSet(1));
  for (int i = 0; i < kPods; ++i) graph.Observe(kPod, MakePod(i, 1));
  const Cost cost = Measure([&graph] {
    EXPECT_EQ(graph.Forget(Uid(1)).to_delete.size(), static_cast<size_t>(kPods));
    for (int i = 0; i < kPods; ++i) graph.Forget(Uid(1'000'000 + i));
  });
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_LT(cost.seconds, 1.0 * kSlow);
}

}  // namespace
}  // namespace cox::controllers::gc
