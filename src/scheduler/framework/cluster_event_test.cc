// SPDX-License-Identifier: Apache-2.0
#include "scheduler/framework/cluster_event.h"

#include <gtest/gtest.h>

#include "scheduler/testing/test_objects.h"

namespace cox::scheduler {
namespace {

TEST(ClusterEventTest, OnlyRelevantNodeChangesAreEvents) {
  const core::v1::Node before = TestNode("n");
  core::v1::Node after = before;
  after.metadata.resourceVersion = "7";
  auto& condition = after.status.conditions.emplace_back();
  condition.type = "Ready";
  condition.status = "True";
  EXPECT_EQ(NodeChange(before, after), kNodeUpdateCondition);
  core::v1::Node beat = after;
  beat.status.conditions[0].lastHeartbeatTime = Time::FromUnix(9);
  EXPECT_EQ(NodeChange(after, beat), 0U);
  after = before;
  after.spec.unschedulable = true;
  EXPECT_EQ(NodeChange(before, after), kNodeUpdateTaint);
  after = before;
  after.spec.taints = {TestTaint("k", "v", "NoExecute")};
  after.metadata.labels["a"] = "b";
  after.status.allocatable["cpu"] = Q("5");
  EXPECT_EQ(NodeChange(before, after),
            kNodeUpdateTaint | kNodeUpdateLabel | kNodeUpdateAllocatable);
}

TEST(ClusterEventTest, OnlyRelevantPodChangesAreEvents) {
  core::v1::Pod pod = TestPod("p", "2");
  pod.spec.schedulingGates.emplace_back().name = "g";
  const PodInfoPtr before = Info(pod);
  pod.status.phase = "Pending";
  EXPECT_EQ(PodChange(*before, *Info(pod)), 0U);
  pod.spec.schedulingGates.clear();
  EXPECT_EQ(PodChange(*before, *Info(pod)), kPodGatesEliminated);
  pod.spec.tolerations.emplace_back().key = "k";
  pod.metadata.labels["a"] = "b";
  pod.spec.containers[0].resources.requests["cpu"] = Q("1");
  EXPECT_EQ(PodChange(*before, *Info(pod)),
            kPodGatesEliminated | kPodUpdateToleration | kPodUpdateLabel | kPodScaleDown);
  EXPECT_EQ(AssignedPodChange(before->pod.get(), *before, *Info(pod)),
            kAssignedPodUpdateLabel | kAssignedPodScaleDown);
  EXPECT_EQ(AssignedPodChange(nullptr, *before, *Info(pod)), kAssignedPodScaleDown);
}

TEST(ClusterEventTest, LabelsMatchUpstreamMetrics) {
  EXPECT_EQ(EventLabel(kAssignedPodDelete), "AssignedPodDelete");
  EXPECT_EQ(EventLabel(kNodeAdd), "NodeAdd");
  EXPECT_EQ(EventLabel(kNodeUpdateTaint | kNodeUpdateLabel), "NodeUpdateNodeLabel");
}

}  // namespace
}  // namespace cox::scheduler
