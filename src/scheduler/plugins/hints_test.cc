// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "scheduler/plugins/registry.h"
#include "scheduler/testing/test_objects.h"

// The events after which each plugin retries a Pod that it rejected.
namespace cox::scheduler {
namespace {

using core::v1::Node;
using core::v1::Pod;

bool Helps(const std::string& name, const Pod& refused, const ClusterEvent& event) {
  const std::unique_ptr<Plugin> plugin = FindPlugin(name)->make({});
  const PodInfoPtr info = Info(refused);
  for (const EventInterest& interest : plugin->Events()) {
    if ((interest.bits & event.bits) != 0 && (!interest.hint || interest.hint(*info, event))) {
      return true;
    }
  }
  return false;
}

ClusterEvent Added(const Node& node) { return {.bits = kNodeAdd, .new_node = Share(node)}; }
ClusterEvent Changed(const Node& before, const Node& after) {
  return {.bits = NodeChange(before, after), .old_node = Share(before), .new_node = Share(after)};
}

TEST(HintsTest, NodeResourcesFitWaitsForFreeResources) {
  const Pod pod = TestPod("p", "4");
  EXPECT_FALSE(Helps("NodeResourcesFit", pod, Added(TestNode("small", "2"))));
  EXPECT_TRUE(Helps("NodeResourcesFit", pod, Added(TestNode("large", "8"))));
  EXPECT_TRUE(Helps("NodeResourcesFit", pod, Changed(TestNode("n", "2"), TestNode("n", "8"))));
  EXPECT_FALSE(Helps("NodeResourcesFit", pod,
                     Changed(TestNode("n", "8", "1Gi"), TestNode("n", "8", "2Gi"))));
  EXPECT_TRUE(Helps("NodeResourcesFit", pod,
                    Changed(TestNode("n", "8", "1Gi", 1), TestNode("n", "8", "1Gi", 2))));
  EXPECT_TRUE(Helps("NodeResourcesFit", pod,
                    {.bits = kAssignedPodDelete, .old_pod = Info(TestPod("gone", "1"))}));
  EXPECT_FALSE(Helps("NodeResourcesFit", pod,
                     {.bits = kAssignedPodScaleDown, .old_pod = Info(TestPod("less", "", "1Gi"))}));
  EXPECT_TRUE(Helps("NodeResourcesFit", pod, {.bits = kPodScaleDown}));
  EXPECT_FALSE(Helps("NodeResourcesFit", pod, {.bits = kAssignedPodAdd}));
}

TEST(HintsTest, TaintTolerationWaitsForToleratedNode) {
  Node tainted = TestNode("n");
  tainted.spec.taints = {TestTaint("k", "v", "NoSchedule")};
  const Pod pod = TestPod("p");
  EXPECT_FALSE(Helps("TaintToleration", pod, Added(tainted)));
  EXPECT_TRUE(Helps("TaintToleration", pod, Added(TestNode("n"))));
  EXPECT_TRUE(Helps("TaintToleration", pod, Changed(tainted, TestNode("n"))));
  EXPECT_FALSE(Helps("TaintToleration", pod, Changed(TestNode("n"), tainted)));
  EXPECT_TRUE(Helps("TaintToleration", pod, {.bits = kPodUpdateToleration}));
}

TEST(HintsTest, NodeAffinityWaitsForMatchingLabels) {
  Node ssd = TestNode("n");
  ssd.metadata.labels["disk"] = "ssd";
  Pod pod = TestPod("p");
  pod.spec.nodeSelector["disk"] = "ssd";
  EXPECT_FALSE(Helps("NodeAffinity", pod, Added(TestNode("n"))));
  EXPECT_TRUE(Helps("NodeAffinity", pod, Added(ssd)));
  EXPECT_TRUE(Helps("NodeAffinity", pod, Changed(TestNode("n"), ssd)));
  Node more = ssd;
  more.metadata.labels["other"] = "x";
  EXPECT_FALSE(Helps("NodeAffinity", pod, Changed(ssd, more)));
}

TEST(HintsTest, NodeUnschedulableWaitsForUncordon) {
  Node cordoned = TestNode("n");
  cordoned.spec.unschedulable = true;
  const Pod pod = TestPod("p");
  EXPECT_FALSE(Helps("NodeUnschedulable", pod, Added(cordoned)));
  EXPECT_TRUE(Helps("NodeUnschedulable", pod, Changed(cordoned, TestNode("n"))));
}

TEST(HintsTest, NodePortsWaitsForDeletionOfConflictingPod) {
  Pod pod = TestPod("p");
  pod.spec.containers[0].ports.emplace_back().hostPort = 80;
  Pod other = TestPod("other");
  other.spec.containers[0].ports.emplace_back().hostPort = 81;
  EXPECT_TRUE(Helps("NodePorts", pod, {.bits = kAssignedPodDelete, .old_pod = Info(pod)}));
  EXPECT_FALSE(Helps("NodePorts", pod, {.bits = kAssignedPodDelete, .old_pod = Info(other)}));
  EXPECT_TRUE(Helps("NodePorts", pod, Added(TestNode("n"))));
}

TEST(HintsTest, NodeNameWaitsForThatNode) {
  Pod pod = TestPod("p");
  pod.spec.nodeName = "mine";
  EXPECT_TRUE(Helps("NodeName", pod, Added(TestNode("mine"))));
  EXPECT_FALSE(Helps("NodeName", pod, Added(TestNode("other"))));
}

}  // namespace
}  // namespace cox::scheduler
