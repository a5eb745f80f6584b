// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_status.h"

#include <algorithm>

#include "coxswain/conditions.h"

namespace cox::controllers::replicaset {
namespace {

using apps::v1::ReplicaSet;
using apps::v1::ReplicaSetStatus;

bool HasLabels(const Map<std::string>& labels, const Map<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const std::string* value = labels.Get(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

void SetFailure(ReplicaSetStatus& status, const Managed& managed, const Time& now) {
  constexpr const char* kFailure = apps::v1::kReplicaSetReplicaFailure;
  if (managed.error.ok()) {
    RemoveCondition(status.conditions, kFailure);
    return;
  }
  // The first failure is kept: messages for the same cause differ (each names another Pod), and
  // each change would be a write.
  if (FindCondition(status.conditions, kFailure) != nullptr) return;
  SetCondition(status.conditions,
               {.type = kFailure,
                .status = core::v1::kConditionTrue,
                .lastTransitionTime = {},
                .reason = managed.creating ? "FailedCreate" : "FailedDelete",
                .message = managed.error.message()},
               now.Rfc3339Copy());
}

}  // namespace

ReplicaSetStatus StatusOf(const ReplicaSet& set, const std::vector<pods::PodPtr>& active,
                          size_t terminating, const Managed& managed, const Time& now) {
  ReplicaSetStatus status;
  status.conditions = set.status.conditions;
  status.observedGeneration = set.metadata.generation;
  status.replicas = static_cast<int32_t>(active.size());
  status.terminatingReplicas = static_cast<int32_t>(terminating);
  for (const pods::PodPtr& pod : active) {
    if (HasLabels(pod->metadata.labels, set.spec.template_.metadata.labels)) {
      ++status.fullyLabeledReplicas;
    }
    if (!pods::IsReady(*pod)) continue;
    ++status.readyReplicas;
    if (pods::IsAvailable(*pod, set.spec.minReadySeconds, now)) ++status.availableReplicas;
  }
  SetFailure(status, managed, now);
  return status;
}

}  // namespace cox::controllers::replicaset
