// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/podgc/decide.h"

#include <gtest/gtest.h>

#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using core::v1::Node;
using core::v1::Pod;

const Time kNow = Time::FromUnix(1'800'000'000);

PodPtr Ended(const std::string& name, int64_t age, const std::string& reason = "") {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.creationTimestamp = kNow + Duration::Seconds(-age);
  pod.status.phase = core::v1::kPodFailed;
  pod.status.reason = reason;
  return std::make_shared<const Pod>(pod);
}

std::string Names(const std::vector<PodPtr>& pods) {
  std::string names;
  for (const PodPtr& pod : pods) names += pod->metadata.name + " ";
  return names;
}

TEST(PodGcTest, OldestPodsBeyondThresholdAreDeleted) {
  const std::vector<PodPtr> pods = {Ended("new", 1), Ended("old", 9), Ended("b", 5), Ended("a", 5)};
  EXPECT_EQ(Names(BeyondThreshold(pods, 4)), "");
  EXPECT_EQ(Names(BeyondThreshold(pods, 3)), "old ");
  EXPECT_EQ(Names(BeyondThreshold(pods, 1)), "old a b ");
  EXPECT_EQ(Names(BeyondThreshold(pods, 0)), "") << "turned off";
}

TEST(PodGcTest, EvictedPodsAreDeletedFirst) {
  EXPECT_EQ(Names(BeyondThreshold({Ended("old", 9), Ended("evicted", 1, "Evicted")}, 1)),
            "evicted ");
}

TEST(PodGcTest, UnscheduledAndDeletedNeedsDeletionTimestampAndNoNode) {
  Pod pod;
  EXPECT_FALSE(IsUnscheduledAndDeleted(pod));
  pod.metadata.deletionTimestamp = kNow;
  EXPECT_TRUE(IsUnscheduledAndDeleted(pod));
  pod.spec.nodeName = "n";
  EXPECT_FALSE(IsUnscheduledAndDeleted(pod));
}

TEST(PodGcTest, OutOfServiceNeedsTaintAndNotReady) {
  const struct {
    const char* taint;
    const char* ready;
    bool out;
  } kCases[] = {
      {"node.kubernetes.io/out-of-service", "False", true},
      {"node.kubernetes.io/out-of-service", "Unknown", true},
      {"node.kubernetes.io/out-of-service", "True", false},
      {"node.kubernetes.io/unreachable", "Unknown", false},
  };
  for (const auto& c : kCases) {
    Node node;
    node.spec.taints.push_back({.key = c.taint, .effect = "NoExecute"});
    node.status.conditions.push_back({.type = "Ready", .status = c.ready});
    EXPECT_EQ(IsOutOfService(node), c.out) << c.taint << " " << c.ready;
  }
}

TEST(PodGcTest, PodOfDeletedNodeGetsDisruptionTarget) {
  Pod pod;
  pod.metadata.generation = 3;
  pod.status.phase = core::v1::kPodRunning;
  EXPECT_TRUE(MarkFailed(true, kNow, pod));
  EXPECT_EQ(pod.status.phase, "Failed");
  const auto* condition = FindCondition(pod.status.conditions, "DisruptionTarget");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, "True");
  EXPECT_EQ(condition->reason, "DeletionByPodGC");
  EXPECT_EQ(condition->message, "PodGC: node no longer exists");
  EXPECT_EQ(condition->observedGeneration, 3);
  EXPECT_EQ(condition->lastTransitionTime, kNow);
}

TEST(PodGcTest, NoDisruptionTargetIfNodeExists) {
  Pod pod;
  EXPECT_TRUE(MarkFailed(false, kNow, pod));
  EXPECT_EQ(pod.status.phase, "Failed");
  EXPECT_TRUE(pod.status.conditions.empty());
}

TEST(PodGcTest, TerminalPodKeepsItsPhase) {
  Pod pod;
  pod.status.phase = core::v1::kPodSucceeded;
  EXPECT_FALSE(MarkFailed(true, kNow, pod));
  EXPECT_EQ(pod.status.phase, "Succeeded");
  EXPECT_TRUE(pod.status.conditions.empty());
}

}  // namespace
}  // namespace cox::controllers
