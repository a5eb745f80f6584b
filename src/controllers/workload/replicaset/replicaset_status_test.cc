// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_status.h"

#include <gtest/gtest.h>

namespace cox::controllers::replicaset {
namespace {

using apps::v1::ReplicaSet;
using apps::v1::ReplicaSetStatus;

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

TEST(ReplicaSetStatusTest, ReportsCountsAndGeneration) {
  const ReplicaSetStatus status = StatusOf(
      Set(), {.active = 4, .terminating = 2, .ready = 3, .labeled = 2, .available = 1}, {}, kNow);
  EXPECT_EQ(status.replicas, 4);
  EXPECT_EQ(status.fullyLabeledReplicas, 2);
  EXPECT_EQ(status.readyReplicas, 3);
  EXPECT_EQ(status.availableReplicas, 1);
  EXPECT_EQ(status.terminatingReplicas, 2);
  EXPECT_EQ(status.observedGeneration, 7);
  EXPECT_TRUE(status.conditions.empty());
}

TEST(ReplicaSetStatusTest, OnlyCountsOfAnIncompleteSetCanWait) {
  ReplicaSet set = Set();
  set.status = StatusOf(set, {.active = 3, .ready = 1}, {}, kNow);
  EXPECT_FALSE(IsUrgent(set, StatusOf(set, {.active = 3, .ready = 2}, {}, kNow)));
  EXPECT_FALSE(IsUrgent(set, StatusOf(set, {.active = 3, .ready = 3}, {}, kNow)));
  EXPECT_TRUE(IsUrgent(set, StatusOf(set, {.active = 3, .ready = 3, .available = 3}, {}, kNow)));
  EXPECT_TRUE(IsUrgent(set, StatusOf(set, {.active = 3}, {.error = Status::Forbidden("")}, kNow)));
  // Once it is complete, terminating Pods that end are reported later.
  set.status = StatusOf(set, {.active = 3, .terminating = 9, .ready = 3, .available = 3}, {}, kNow);
  EXPECT_FALSE(IsUrgent(set, StatusOf(set, {.active = 3, .ready = 3, .available = 3}, {}, kNow)));
  set.metadata.generation = 8;
  EXPECT_TRUE(IsUrgent(set, StatusOf(set, {.active = 2}, {}, kNow)));
}

TEST(ReplicaSetStatusTest, FirstFailureIsKeptUntilItIsResolved) {
  ReplicaSet set = Set();
  const auto fail = [&](bool creating, const char* why) {
    set.status = StatusOf(set, {}, {.creating = creating, .error = Status::Forbidden(why)}, kNow);
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
  set.status = StatusOf(set, {}, {}, kNow);
  EXPECT_TRUE(set.status.conditions.empty());
  fail(false, "webhook");
  EXPECT_EQ(set.status.conditions.at(0).reason, "FailedDelete");
}

}  // namespace
}  // namespace cox::controllers::replicaset
