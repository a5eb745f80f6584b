// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/condition_taints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Taint;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const Time kNow = Time::FromUnix(1000);

Node NodeWith(std::vector<std::pair<std::string, std::string>> conditions,
              std::vector<std::string> taints = {}) {
  Node node;
  for (auto& [type, status] : conditions) {
    core::v1::NodeCondition condition;
    condition.type = type;
    condition.status = status;
    node.status.conditions.push_back(condition);
  }
  for (const std::string& text : taints) {
    const size_t colon = text.find(':');
    node.spec.taints.push_back({.key = text.substr(0, colon), .effect = text.substr(colon + 1)});
  }
  return node;
}

std::vector<std::string> Taints(const Node& node, Eviction eviction = Eviction::kFromConditions) {
  std::vector<std::string> out;
  for (const Taint& taint : TaintsFor(node, eviction, kNow)) {
    out.push_back(taint.key.substr(taint.key.find('/') + 1) + ":" + taint.effect);
  }
  return out;
}

TEST(ConditionTaints, EachConditionHasItsTaint) {
  EXPECT_THAT(Taints(NodeWith({{"Ready", "True"}, {"MemoryPressure", "False"}})), IsEmpty());
  EXPECT_THAT(Taints(NodeWith({{"Ready", "False"}})),
              UnorderedElementsAre("not-ready:NoSchedule", "not-ready:NoExecute"));
  EXPECT_THAT(Taints(NodeWith({{"Ready", "Unknown"}})),
              UnorderedElementsAre("unreachable:NoSchedule", "unreachable:NoExecute"));
  EXPECT_THAT(Taints(NodeWith({{"Ready", "True"},
                               {"MemoryPressure", "True"},
                               {"DiskPressure", "True"},
                               {"PIDPressure", "True"},
                               {"NetworkUnavailable", "True"}})),
              UnorderedElementsAre("memory-pressure:NoSchedule", "disk-pressure:NoSchedule",
                                   "pid-pressure:NoSchedule", "network-unavailable:NoSchedule"));
  Node node = NodeWith({{"Ready", "True"}});
  node.spec.unschedulable = true;
  EXPECT_THAT(Taints(node), ElementsAre("unschedulable:NoSchedule"));
}

TEST(ConditionTaints, TaintsAreRemovedWithTheirConditionAndOthersKept) {
  const Node node = NodeWith(
      {{"Ready", "True"}},
      {"node.kubernetes.io/not-ready:NoSchedule", "example.com/gpu:NoSchedule",
       "node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/unschedulable:NoSchedule",
       "node.kubernetes.io/disk-pressure:NoSchedule"});
  EXPECT_THAT(Taints(node), ElementsAre("gpu:NoSchedule"));
}

TEST(ConditionTaints, ExistingTaintKeepsTimeAdded) {
  Node node = NodeWith({{"Ready", "Unknown"}}, {"node.kubernetes.io/unreachable:NoExecute"});
  node.spec.taints[0].timeAdded = Time::FromUnix(500);
  const List<Taint> taints = TaintsFor(node, Eviction::kFromConditions, kNow);
  EXPECT_EQ(taints[0].timeAdded, Time::FromUnix(500));
  EXPECT_EQ(taints[1].timeAdded, kNow);
  node.spec.taints = taints;
  EXPECT_EQ(TaintsFor(node, Eviction::kFromConditions, kNow), taints);
}

TEST(ConditionTaints, NodeWithoutReadyConditionKeepsInitialTaint) {
  EXPECT_THAT(Taints(NodeWith({}, {"node.kubernetes.io/not-ready:NoSchedule"})),
              ElementsAre("not-ready:NoSchedule"));
  EXPECT_THAT(Taints(NodeWith({})), IsEmpty());
}

TEST(ConditionTaints, RateLimitedNodeGetsNoNewNoExecuteTaint) {
  const Node fresh = NodeWith({{"Ready", "Unknown"}});
  EXPECT_THAT(Taints(fresh, Eviction::kNoMore), ElementsAre("unreachable:NoSchedule"));
  const Node tainted = NodeWith({{"Ready", "Unknown"}}, {"node.kubernetes.io/not-ready:NoExecute"});
  EXPECT_THAT(Taints(tainted, Eviction::kNoMore),
              UnorderedElementsAre("unreachable:NoSchedule", "unreachable:NoExecute"));
  EXPECT_THAT(Taints(tainted, Eviction::kNone), ElementsAre("unreachable:NoSchedule"));
}

}  // namespace
}  // namespace cox::controllers
