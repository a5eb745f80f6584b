// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/deployment_status.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/strings.h"
#include "controllers/workload/deployment/sizes.h"
#include "coxswain/conditions.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentCondition;
using apps::v1::DeploymentStatus;

constexpr const char* kProgressing = apps::v1::kDeploymentProgressing;
constexpr const char* kTrue = "True";
constexpr const char* kFalse = "False";

// Some count has improved since the status was written.
bool HasProgressed(const DeploymentStatus& before, const DeploymentStatus& now) {
  return now.updatedReplicas > before.updatedReplicas ||
         now.replicas - now.updatedReplicas < before.replicas - before.updatedReplicas ||
         now.readyReplicas > before.readyReplicas ||
         now.availableReplicas > before.availableReplicas;
}

bool IsOutOfTime(const Deployment& deployment, const DeploymentStatus& status, const Time& now) {
  const DeploymentCondition* condition = FindCondition(status.conditions, kProgressing);
  if (condition == nullptr || condition->reason == kComplete) return false;
  if (condition->reason == kTimedOut) return true;
  const Duration deadline = Duration::Seconds(*deployment.spec.progressDeadlineSeconds);
  return condition->lastUpdateTime + deadline < now;
}

void SetProgress(const Deployment& deployment, const ReplicaSets& sets, DeploymentStatus& status,
                 const Time& now) {
  const std::string who = sets.latest == nullptr
                              ? "Deployment " + Quote(deployment.metadata.name)
                              : "ReplicaSet " + Quote(sets.latest->metadata.name);
  if (IsComplete(deployment, status)) {
    SetDeploymentCondition(status, kProgressing, kTrue, kComplete,
                           who + " has successfully progressed.", now);
  } else if (HasProgressed(deployment.status, status)) {
    // Each step restarts the deadline: lastUpdateTime changes even if nothing else does.
    std::optional<Time> since;
    const DeploymentCondition* former = FindCondition(status.conditions, kProgressing);
    if (former != nullptr && former->status == kTrue) since = former->lastTransitionTime;
    RemoveCondition(status.conditions, kProgressing);
    SetDeploymentCondition(status, kProgressing, kTrue, kUpdated, who + " is progressing.", now);
    if (since) status.conditions.back().lastTransitionTime = *since;
  } else if (IsOutOfTime(deployment, status, now)) {
    SetDeploymentCondition(status, kProgressing, kFalse, kTimedOut,
                           who + " has timed out progressing.", now);
  }
}

// Copies the failure condition of a set; the latest set has priority.
void SetFailure(const ReplicaSets& sets, DeploymentStatus& status, const Time& now) {
  std::vector<SetPtr> all = sets.All();
  std::reverse(all.begin(), all.end());
  for (const SetPtr& set : all) {
    const auto* failure =
        FindCondition(set->status.conditions, apps::v1::kReplicaSetReplicaFailure);
    if (failure == nullptr) continue;
    SetDeploymentCondition(status, apps::v1::kDeploymentReplicaFailure, failure->status,
                           failure->reason, failure->message, now);
    return;
  }
  RemoveCondition(status.conditions, apps::v1::kDeploymentReplicaFailure);
}

}  // namespace

bool HasDeadline(const Deployment& deployment) {
  return deployment.spec.progressDeadlineSeconds &&
         *deployment.spec.progressDeadlineSeconds != std::numeric_limits<int32_t>::max();
}

void SetDeploymentCondition(DeploymentStatus& status, std::string_view type, std::string_view value,
                            std::string_view reason, std::string message, const Time& now) {
  const Time second = now.Rfc3339Copy();
  DeploymentCondition wanted;
  wanted.type = type;
  wanted.status = value;
  wanted.lastUpdateTime = second;
  wanted.lastTransitionTime = second;
  wanted.reason = reason;
  wanted.message = std::move(message);
  if (const DeploymentCondition* present = FindCondition(status.conditions, type)) {
    if (present->status == value && present->reason == reason) return;
    if (present->status == value) wanted.lastTransitionTime = present->lastTransitionTime;
    RemoveCondition(status.conditions, type);
  }
  status.conditions.push_back(std::move(wanted));
}

bool NotePause(const Deployment& deployment, DeploymentStatus& status, const Time& now) {
  if (!HasDeadline(deployment)) return false;
  const DeploymentCondition* condition = FindCondition(status.conditions, kProgressing);
  // A timeout is kept until the rollout makes progress.
  if (condition != nullptr && condition->reason == kTimedOut) return false;
  const bool noted = condition != nullptr && condition->reason == kPaused;
  if (noted == deployment.spec.paused) return false;
  SetDeploymentCondition(status, kProgressing, "Unknown", noted ? kResumed : kPaused,
                         noted ? "Deployment is resumed" : "Deployment is paused", now);
  return true;
}

DeploymentStatus CountsOf(const Deployment& deployment, const ReplicaSets& sets, const Time& now) {
  DeploymentStatus status;
  status.conditions = deployment.status.conditions;
  status.collisionCount = deployment.status.collisionCount;
  status.observedGeneration = deployment.metadata.generation;
  int32_t wanted_by_sets = 0;
  for (const SetPtr& set : sets.All()) {
    wanted_by_sets += SizeOf(*set);
    status.replicas += set->status.replicas;
    status.readyReplicas += set->status.readyReplicas;
    status.availableReplicas += set->status.availableReplicas;
    if (set->status.terminatingReplicas) {
      status.terminatingReplicas =
          status.terminatingReplicas.value_or(0) + *set->status.terminatingReplicas;
    }
  }
  if (sets.latest != nullptr) status.updatedReplicas = sets.latest->status.replicas;
  status.unavailableReplicas = std::max(0, wanted_by_sets - status.availableReplicas);
  const bool enough =
      status.availableReplicas >= SizeOf(deployment) - BoundsOf(deployment).unavailable;
  SetDeploymentCondition(status, apps::v1::kDeploymentAvailable, enough ? kTrue : kFalse,
                         enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                         enough ? "Deployment has minimum availability."
                                : "Deployment does not have minimum availability.",
                         now);
  return status;
}

DeploymentStatus RolloutStatusOf(const Deployment& deployment, const ReplicaSets& sets,
                                 const Time& now) {
  DeploymentStatus status = CountsOf(deployment, sets, now);
  const DeploymentCondition* former = FindCondition(deployment.status.conditions, kProgressing);
  // A completed rollout stays complete, even if Pods fail, until a new rollout starts.
  const bool was_complete =
      status.replicas == status.updatedReplicas && former != nullptr && former->reason == kComplete;
  if (!HasDeadline(deployment)) {
    RemoveCondition(status.conditions, kProgressing);
  } else if (!was_complete) {
    SetProgress(deployment, sets, status, now);
  }
  SetFailure(sets, status, now);
  return status;
}

bool IsComplete(const Deployment& deployment, const DeploymentStatus& status) {
  const int32_t wanted = SizeOf(deployment);
  return status.updatedReplicas == wanted && status.replicas == wanted &&
         status.availableReplicas == wanted &&
         status.observedGeneration >= deployment.metadata.generation;
}

std::optional<Clock::Duration> DeadlineIn(const Deployment& deployment,
                                          const DeploymentStatus& status, const Time& now) {
  const DeploymentCondition* condition = FindCondition(status.conditions, kProgressing);
  if (!HasDeadline(deployment) || condition == nullptr || IsComplete(deployment, status) ||
      condition->reason == kTimedOut || condition->reason == kComplete || deployment.spec.paused) {
    return {};
  }
  const Duration deadline = Duration::Seconds(*deployment.spec.progressDeadlineSeconds);
  const std::chrono::nanoseconds left((condition->lastUpdateTime + deadline - now).nanos);
  // Stored times have a resolution of one second, so one second is added.
  return std::max<Clock::Duration>(left, Clock::Duration::zero()) + std::chrono::seconds(1);
}

}  // namespace cox::controllers::deployment
