// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/deployment_status.h"

#include <gtest/gtest.h>

#include "coxswain/conditions.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentCondition;
using apps::v1::DeploymentStatus;
using apps::v1::ReplicaSet;

const Time kNow = Time::FromUnix(1'000'000);

Time After(int64_t seconds) { return kNow + Duration::Seconds(seconds); }

Deployment Three() {
  Deployment deployment;
  deployment.metadata.name = "web";
  deployment.metadata.generation = 4;
  deployment.spec.replicas = 3;
  deployment.spec.progressDeadlineSeconds = 600;
  deployment.spec.strategy.type = "RollingUpdate";
  auto& rolling = deployment.spec.strategy.rollingUpdate.ensure();
  rolling.maxSurge = 1;
  rolling.maxUnavailable = 1;
  return deployment;
}

SetPtr Set(std::string name, int32_t size, int32_t replicas, int32_t ready, int32_t available) {
  ReplicaSet set;
  set.metadata.name = std::move(name);
  set.spec.replicas = size;
  set.status.replicas = replicas;
  set.status.readyReplicas = ready;
  set.status.availableReplicas = available;
  set.status.terminatingReplicas = 1;
  return std::make_shared<const ReplicaSet>(std::move(set));
}

const DeploymentCondition& Progressing(const DeploymentStatus& status) {
  static const DeploymentCondition kNone;
  const auto* found = FindCondition(status.conditions, "Progressing");
  return found == nullptr ? kNone : *found;
}

TEST(DeploymentStatusTest, SumsCountsOfSets) {
  const ReplicaSets sets{Set("new", 2, 2, 1, 1), {Set("old", 2, 1, 1, 1)}};
  const DeploymentStatus status = CountsOf(Three(), sets, kNow);
  EXPECT_EQ(status.observedGeneration, 4);
  EXPECT_EQ(status.replicas, 3);
  EXPECT_EQ(status.updatedReplicas, 2);
  EXPECT_EQ(status.readyReplicas, 2);
  EXPECT_EQ(status.availableReplicas, 2);
  EXPECT_EQ(status.unavailableReplicas, 2);
  EXPECT_EQ(status.terminatingReplicas, 2);
  ASSERT_EQ(status.conditions.size(), 1);
  EXPECT_EQ(status.conditions[0].reason, "MinimumReplicasAvailable");
  EXPECT_EQ(status.conditions[0].message, "Deployment has minimum availability.");
  const DeploymentStatus less = CountsOf(Three(), {Set("new", 3, 3, 1, 1), {}}, kNow);
  EXPECT_EQ(less.conditions[0].status, "False");
  EXPECT_EQ(less.conditions[0].reason, "MinimumReplicasUnavailable");
}

// One rollout from beginning to end, and the time after it.
TEST(DeploymentStatusTest, ProgressingFollowsTheRollout) {
  Deployment deployment = Three();
  const auto look = [&](const SetPtr& latest, std::vector<SetPtr> old, const Time& now) {
    deployment.status = RolloutStatusOf(deployment, {latest, std::move(old)}, now);
  };
  SetDeploymentCondition(deployment.status, "Progressing", "True", kCreated, "made", kNow);
  look(Set("new", 3, 0, 0, 0), {}, After(1));
  EXPECT_EQ(Progressing(deployment.status).reason, kCreated);
  look(Set("new", 3, 3, 0, 0), {}, After(2));
  EXPECT_EQ(Progressing(deployment.status).reason, kUpdated);
  EXPECT_EQ(Progressing(deployment.status).message, "ReplicaSet \"new\" is progressing.");
  look(Set("new", 3, 3, 1, 1), {}, After(5));
  EXPECT_EQ(Progressing(deployment.status).lastUpdateTime, After(5));
  EXPECT_EQ(Progressing(deployment.status).lastTransitionTime, kNow);
  look(Set("new", 3, 3, 3, 3), {}, After(6));
  EXPECT_EQ(Progressing(deployment.status).reason, kComplete);
  EXPECT_EQ(Progressing(deployment.status).message,
            "ReplicaSet \"new\" has successfully progressed.");
  // A Pod that fails later does not start a rollout.
  look(Set("new", 3, 3, 1, 1), {}, After(7));
  look(Set("new", 3, 3, 1, 1), {}, After(7000));
  EXPECT_EQ(Progressing(deployment.status).reason, kComplete);
}

TEST(DeploymentStatusTest, StalledRolloutExceedsDeadline) {
  Deployment deployment = Three();
  const ReplicaSets sets{Set("new", 1, 1, 0, 0), {Set("old", 3, 3, 3, 3)}};
  deployment.status = RolloutStatusOf(deployment, sets, kNow);
  EXPECT_EQ(DeadlineIn(deployment, deployment.status, After(1)), std::chrono::seconds(600));
  deployment.status = RolloutStatusOf(deployment, sets, After(600));
  EXPECT_EQ(Progressing(deployment.status).reason, kUpdated);
  deployment.status = RolloutStatusOf(deployment, sets, After(601));
  EXPECT_EQ(Progressing(deployment.status).status, "False");
  EXPECT_EQ(Progressing(deployment.status).reason, kTimedOut);
  EXPECT_EQ(Progressing(deployment.status).message,
            "ReplicaSet \"new\" has timed out progressing.");
  EXPECT_EQ(DeadlineIn(deployment, deployment.status, After(601)), std::nullopt);
  // The rollout makes progress after the timeout.
  deployment.status =
      RolloutStatusOf(deployment, {Set("new", 1, 1, 1, 1), {Set("old", 3, 3, 3, 3)}}, After(700));
  EXPECT_EQ(Progressing(deployment.status).status, "True");
}

TEST(DeploymentStatusTest, NoProgressingConditionWithoutDeadline) {
  Deployment deployment = Three();
  deployment.spec.progressDeadlineSeconds = std::numeric_limits<int32_t>::max();
  SetDeploymentCondition(deployment.status, "Progressing", "True", kCreated, "made", kNow);
  const DeploymentStatus status = RolloutStatusOf(deployment, {Set("new", 3, 0, 0, 0), {}}, kNow);
  EXPECT_EQ(FindCondition(status.conditions, "Progressing"), nullptr);
  EXPECT_FALSE(NotePause(deployment, deployment.status, kNow));
}

TEST(DeploymentStatusTest, PauseAndResumeSetCondition) {
  Deployment deployment = Three();
  EXPECT_FALSE(NotePause(deployment, deployment.status, kNow));
  deployment.spec.paused = true;
  EXPECT_TRUE(NotePause(deployment, deployment.status, kNow));
  EXPECT_EQ(Progressing(deployment.status).status, "Unknown");
  EXPECT_EQ(Progressing(deployment.status).reason, "DeploymentPaused");
  EXPECT_FALSE(NotePause(deployment, deployment.status, kNow));
  EXPECT_EQ(DeadlineIn(deployment, deployment.status, kNow), std::nullopt);
  deployment.spec.paused = false;
  EXPECT_TRUE(NotePause(deployment, deployment.status, kNow));
  EXPECT_EQ(Progressing(deployment.status).reason, "DeploymentResumed");
}

TEST(DeploymentStatusTest, ReplicaFailureIsCopiedFromSets) {
  ReplicaSet failing = *Set("new", 3, 0, 0, 0);
  apps::v1::ReplicaSetCondition failure;
  failure.type = "ReplicaFailure";
  failure.status = "True";
  failure.reason = "FailedCreate";
  failure.message = "quota";
  failing.status.conditions = {failure};
  Deployment deployment = Three();
  deployment.status =
      RolloutStatusOf(deployment, {std::make_shared<const ReplicaSet>(failing), {}}, kNow);
  const auto* told = FindCondition(deployment.status.conditions, "ReplicaFailure");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->reason, "FailedCreate");
  EXPECT_EQ(told->message, "quota");
  deployment.status = RolloutStatusOf(deployment, {Set("new", 3, 0, 0, 0), {}}, kNow);
  EXPECT_EQ(FindCondition(deployment.status.conditions, "ReplicaFailure"), nullptr);
}

}  // namespace
}  // namespace cox::controllers::deployment
