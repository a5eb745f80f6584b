// SPDX-License-Identifier: Apache-2.0
#include "coxswain/conditions.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

using meta::v1::Condition;

const Time kThen = Time::FromUnix(1000);
const Time kNow = Time::FromUnix(2000);

Condition Ready(std::string status, std::string reason, int64_t generation = 1) {
  return {.type = "Ready",
          .status = std::move(status),
          .observedGeneration = generation,
          .reason = std::move(reason)};
}

TEST(ConditionsTest, TransitionTimeChangesOnlyWithTheStatus) {
  List<Condition> conditions;
  EXPECT_TRUE(SetCondition(conditions, Ready("False", "Starting"), kThen));
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].lastTransitionTime, kThen);

  EXPECT_FALSE(SetCondition(conditions, Ready("False", "Starting"), kNow)) << "nothing to write";
  EXPECT_EQ(conditions[0].lastTransitionTime, kThen);

  EXPECT_TRUE(SetCondition(conditions, Ready("False", "Pulling", 2), kNow));
  EXPECT_EQ(conditions[0].lastTransitionTime, kThen) << "the status did not change";
  EXPECT_EQ(conditions[0].reason, "Pulling");
  EXPECT_EQ(conditions[0].observedGeneration, 2);

  EXPECT_TRUE(SetCondition(conditions, Ready("True", "Up", 2), kNow));
  EXPECT_EQ(conditions[0].lastTransitionTime, kNow);
  EXPECT_EQ(conditions.size(), 1u);
}

TEST(ConditionsTest, TransitionTimeOfTheCallerIsUsedWhenTheStatusChanges) {
  List<Condition> conditions;
  Condition ready = Ready("True", "Up");
  ready.lastTransitionTime = kThen;
  EXPECT_TRUE(SetCondition(conditions, ready, kNow));
  EXPECT_EQ(conditions[0].lastTransitionTime, kThen);
  ready.lastTransitionTime = kNow;
  EXPECT_FALSE(SetCondition(conditions, ready, kNow)) << "it did not change then";
}

TEST(ConditionsTest, FindsAndRemovesByType) {
  List<Condition> conditions = {Ready("Unknown", "A"), {.type = "Synced", .status = "True"}};
  EXPECT_FALSE(IsTrue(conditions, "Ready"));
  EXPECT_TRUE(IsTrue(conditions, "Synced"));
  EXPECT_FALSE(IsTrue(conditions, "Absent"));
  const List<Condition>& constant = conditions;
  EXPECT_EQ(FindCondition(constant, "Ready"), &conditions[0]);
  EXPECT_EQ(FindCondition(conditions, "Absent"), nullptr);
  EXPECT_TRUE(RemoveCondition(conditions, "Ready"));
  EXPECT_FALSE(RemoveCondition(conditions, "Ready"));
  EXPECT_EQ(conditions.size(), 1u);
}

TEST(ConditionsTest, SupportsOlderConditionStructs) {
  List<core::v1::PodCondition> pod;
  EXPECT_TRUE(SetCondition(pod, {.type = "Ready", .status = "True"}, kThen));
  EXPECT_FALSE(SetCondition(pod, {.type = "Ready", .status = "True"}, kNow));
  EXPECT_TRUE(IsTrue(pod, "Ready"));

  List<apps::v1::DeploymentCondition> deployment;
  EXPECT_TRUE(SetCondition(deployment, {.type = "Progressing", .status = "True"}, kThen));
  EXPECT_FALSE(SetCondition(deployment, {.type = "Progressing", .status = "True"}, kNow));
  EXPECT_EQ(deployment[0].lastUpdateTime, kThen);
  EXPECT_TRUE(
      SetCondition(deployment, {.type = "Progressing", .status = "True", .reason = "New"}, kNow));
  EXPECT_EQ(deployment[0].lastUpdateTime, kNow);
  EXPECT_EQ(deployment[0].lastTransitionTime, kThen);
}

TEST(ConditionsTest, TimeNowIsInWholeSeconds) {
  TestClock clock;
  clock.Advance(std::chrono::milliseconds(700));
  EXPECT_EQ(TimeNow(clock).ToString(), "2030-01-02T03:04:05Z");
  EXPECT_EQ(TimeNow(clock).nanos(), 0);
}

}  // namespace
}  // namespace cox
