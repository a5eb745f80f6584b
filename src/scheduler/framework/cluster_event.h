// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "scheduler/cache/pod_info.h"

namespace cox::scheduler {

// Cluster events that can make an unschedulable Pod schedulable, one bit each.
enum EventBits : uint32_t {
  kAssignedPodAdd = 1U << 0,
  kAssignedPodUpdateLabel = 1U << 1,
  kAssignedPodScaleDown = 1U << 2,
  kAssignedPodDelete = 1U << 3,
  kNodeAdd = 1U << 4,
  kNodeDelete = 1U << 5,
  kNodeUpdateAllocatable = 1U << 6,
  kNodeUpdateLabel = 1U << 7,
  kNodeUpdateTaint = 1U << 8,  // and spec.unschedulable
  kNodeUpdateCondition = 1U << 9,
  // Changes of the unschedulable Pod itself.
  kPodUpdateLabel = 1U << 10,
  kPodScaleDown = 1U << 11,
  kPodUpdateToleration = 1U << 12,
  kPodGatesEliminated = 1U << 13,
};
inline constexpr uint32_t kOwnPodEvents =
    kPodUpdateLabel | kPodScaleDown | kPodUpdateToleration | kPodGatesEliminated;

// "AssignedPodDelete", "NodeAdd": the label of the lowest bit in metrics.
std::string_view EventLabel(uint32_t bits);

struct ClusterEvent {
  uint32_t bits = 0;
  // Before and after the event; null if not applicable.
  std::shared_ptr<const core::v1::Node> old_node, new_node;
  PodInfoPtr old_pod, new_pod;
};

// Returns whether an event may make a Pod schedulable that the plugin rejected. If in doubt true:
// the worst case is a useless attempt.
using QueueingHint = std::function<bool(const PodInfo& refused, const ClusterEvent& event)>;
struct EventInterest {
  uint32_t bits = 0;
  QueueingHint hint;  // null: always
};

// Returns the relevant changes; 0: none.
uint32_t NodeChange(const core::v1::Node& before, const core::v1::Node& after);
uint32_t PodChange(const PodInfo& before, const PodInfo& after);  // of an unscheduled Pod
// The same for a bound Pod. `before` is null if only its usage is known.
uint32_t AssignedPodChange(const core::v1::Pod* before, const PodUsage& usage_before,
                           const PodInfo& after);

}  // namespace cox::scheduler
