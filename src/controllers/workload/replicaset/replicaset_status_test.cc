// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_status.h"

#include <gtest/gtest.h>

namespace cox::controllers::replicaset {
namespace {

using apps::v1::ReplicaSet;
using apps::v1::ReplicaSetStatus;
using core::v1::Pod;

const Time kNow = Time::FromUnix(1'000'000, 5);

ReplicaSet Set() {
  ReplicaSet set;
  set.metadata.name = "web";
  set.metadata.generation = 7;
  set.spec.replicas = 3;
  set.spec.minReadySeconds = 10;
  set.spec.template_.metadata.labels = {{"app", "web"}, {"tier", "front"}};
  return set;
}

pods::PodPtr MakePod(Map<std::string> labels, int ready_for) {
  Pod pod;
  pod.metadata.labels = std::move(labels);
  if (ready_for >= 0) {
    core::v1::PodCondition ready;
    ready.type = "Ready";
    ready.status = "True";
    ready.lastTransitionTime = Time::FromUnix(1'000'000 - ready_for);
    pod.status.conditions = {ready};
  }
  return std::make_shared<const Pod>(std::move(pod));
}

TEST(ReplicaSetStatusTest, CountsReplicasByState) {
  const std::vector<pods::PodPtr> active = {
      MakePod({{"app", "web"}, {"tier", "front"}, {"more", "x"}}, 60),
      MakePod({{"app", "web"}, {"tier", "front"}}, 3),
      MakePod({{"app", "web"}}, 60),
      MakePod({{"app", "web"}, {"tier", "back"}}, -1),
  };
  const ReplicaSetStatus status = StatusOf(Set(), active, 2, {}, kNow);
  EXPECT_EQ(status.replicas, 4);
  EXPECT_EQ(status.fullyLabeledReplicas, 2);
  EXPECT_EQ(status.readyReplicas, 3);
  EXPECT_EQ(status.availableReplicas, 2);
  EXPECT_EQ(status.terminatingReplicas, 2);
  EXPECT_EQ(status.observedGeneration, 7);
  EXPECT_TRUE(status.conditions.empty());
}

TEST(ReplicaSetStatusTest, FirstFailureIsKeptUntilItIsResolved) {
  ReplicaSet set = Set();
  const auto fail = [&](bool creating, const char* why) {
    set.status =
        StatusOf(set, {}, 0, {.creating = creating, .error = Status::Forbidden(why)}, kNow);
  };
  fail(true, "quota");
  ASSERT_EQ(set.status.conditions.size(), 1);
  EXPECT_EQ(set.status.conditions[0].type, "ReplicaFailure");
  EXPECT_EQ(set.status.conditions[0].status, "True");
  EXPECT_EQ(set.status.conditions[0].reason, "FailedCreate");
  EXPECT_EQ(set.status.conditions[0].message, "quota");
  EXPECT_EQ(set.status.conditions[0].lastTransitionTime, Time::FromUnix(1'000'000));
  fail(true, "quota, said otherwise");
  EXPECT_EQ(set.status.conditions[0].message, "quota");
  set.status = StatusOf(set, {}, 0, {}, kNow);
  EXPECT_TRUE(set.status.conditions.empty());
  fail(false, "webhook");
  EXPECT_EQ(set.status.conditions.at(0).reason, "FailedDelete");
}

}  // namespace
}  // namespace cox::controllers::replicaset
