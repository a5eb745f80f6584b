// SPDX-License-Identifier: Apache-2.0
#include "scheduler/framework/cluster_event.h"

#include <algorithm>

namespace cox::scheduler {
namespace {

bool SameTaints(const core::v1::Node& a, const core::v1::Node& b) {
  return a.spec.unschedulable == b.spec.unschedulable &&
         std::equal(a.spec.taints.begin(), a.spec.taints.end(), b.spec.taints.begin(),
                    b.spec.taints.end(), [](const auto& x, const auto& y) {
                      return x.key == y.key && x.value == y.value && x.effect == y.effect;
                    });
}

// Compares types and statuses, not heartbeat times.
bool SameConditions(const core::v1::Node& a, const core::v1::Node& b) {
  return std::equal(
      a.status.conditions.begin(), a.status.conditions.end(), b.status.conditions.begin(),
      b.status.conditions.end(),
      [](const auto& x, const auto& y) { return x.type == y.type && x.status == y.status; });
}

bool WantsLess(const Amounts& before, const Amounts& after) {
  if (after.milli_cpu < before.milli_cpu || after.memory < before.memory ||
      after.ephemeral_storage < before.ephemeral_storage) {
    return true;
  }
  return std::any_of(before.extended.begin(), before.extended.end(),
                     [&](const auto& entry) { return after.Get(entry.first) < entry.second; });
}

}  // namespace

std::string_view EventLabel(uint32_t bits) {
  static constexpr std::string_view kLabels[] = {
      "AssignedPodAdd",
      "AssignedPodUpdatePodLabel",
      "AssignedPodUpdatePodScaleDown",
      "AssignedPodDelete",
      "NodeAdd",
      "NodeDelete",
      "NodeUpdateNodeAllocatable",
      "NodeUpdateNodeLabel",
      "NodeUpdateNodeTaint",
      "NodeUpdateNodeCondition",
      "PodUpdatePodLabel",
      "PodUpdatePodScaleDown",
      "PodUpdatePodToleration",
      "PodUpdatePodSchedulingGatesEliminated",
  };
  for (size_t i = 0; i < std::size(kLabels); ++i) {
    if ((bits & (1U << i)) != 0) return kLabels[i];
  }
  return "";
}

uint32_t NodeChange(const core::v1::Node& before, const core::v1::Node& after) {
  uint32_t bits = 0;
  if (before.status.allocatable != after.status.allocatable) {
    bits |= kNodeUpdateAllocatable;
  }
  if (before.metadata.labels != after.metadata.labels) bits |= kNodeUpdateLabel;
  if (!SameTaints(before, after)) bits |= kNodeUpdateTaint;
  if (!SameConditions(before, after)) bits |= kNodeUpdateCondition;
  return bits;
}

uint32_t PodChange(const PodInfo& before, const PodInfo& after) {
  uint32_t bits = 0;
  if (before.pod->metadata.labels != after.pod->metadata.labels) {
    bits |= kPodUpdateLabel;
  }
  if (WantsLess(before.requests, after.requests)) bits |= kPodScaleDown;
  if (before.pod->spec.tolerations != after.pod->spec.tolerations) {
    bits |= kPodUpdateToleration;
  }
  if (!before.pod->spec.schedulingGates.empty() && after.pod->spec.schedulingGates.empty()) {
    bits |= kPodGatesEliminated;
  }
  return bits;
}

uint32_t AssignedPodChange(const core::v1::Pod* before, const PodUsage& usage_before,
                           const PodInfo& after) {
  uint32_t bits = 0;
  if (before != nullptr && before->metadata.labels != after.pod->metadata.labels) {
    bits |= kAssignedPodUpdateLabel;
  }
  if (WantsLess(usage_before.requests, after.requests)) bits |= kAssignedPodScaleDown;
  return bits;
}

}  // namespace cox::scheduler
