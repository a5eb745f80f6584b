// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/replicaset/replicaset_status.h"

#include "coxswain/conditions.h"

namespace cox::controllers::replicaset {
namespace {

using apps::v1::ReplicaSet;
using apps::v1::ReplicaSetStatus;

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

ReplicaSetStatus StatusOf(const ReplicaSet& set, const pods::PodCounter::Counts& counts,
                          const Managed& managed, const Time& now) {
  ReplicaSetStatus status;
  status.conditions = set.status.conditions;
  status.observedGeneration = set.metadata.generation;
  status.replicas = static_cast<int32_t>(counts.active);
  status.terminatingReplicas = static_cast<int32_t>(counts.terminating);
  status.fullyLabeledReplicas = static_cast<int32_t>(counts.labeled);
  status.readyReplicas = static_cast<int32_t>(counts.ready);
  status.availableReplicas = static_cast<int32_t>(counts.available);
  SetFailure(status, managed, now);
  return status;
}

bool IsUrgent(const ReplicaSet& set, const ReplicaSetStatus& status) {
  const int32_t wanted = set.spec.replicas.value_or(1);
  const auto complete = [wanted](const ReplicaSetStatus& one) {
    return one.replicas == wanted && one.availableReplicas == wanted;
  };
  return (complete(status) && !complete(set.status)) ||
         status.observedGeneration != set.status.observedGeneration ||
         status.conditions != set.status.conditions;
}

}  // namespace cox::controllers::replicaset
