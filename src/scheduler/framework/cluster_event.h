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

// What happened in the cluster, a bit each, as far as it can make a Pod fit that did not.
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
  // Of the waiting Pod itself.
  kPodUpdateLabel = 1U << 10,
  kPodScaleDown = 1U << 11,
  kPodUpdateToleration = 1U << 12,
  kPodGatesEliminated = 1U << 13,
};
inline constexpr uint32_t kOwnPodEvents =
    kPodUpdateLabel | kPodScaleDown | kPodUpdateToleration | kPodGatesEliminated;

// "AssignedPodDelete", "NodeAdd": of the lowest bit, as metrics have it.
std::string_view EventLabel(uint32_t bits);

struct ClusterEvent {
  uint32_t bits = 0;
  // Before and after; those that apply.
  std::shared_ptr<const core::v1::Node> old_node, new_node;
  PodInfoPtr old_pod, new_pod;
};

// Whether an event may help a Pod that the plugin has refused. In doubt true: it is tried again for
// nothing, at worst.
using QueueingHint = std::function<bool(const PodInfo& refused, const ClusterEvent& event)>;
struct EventInterest {
  uint32_t bits = 0;
  QueueingHint hint;  // null: always
};

// What of a change matters. 0: nothing.
uint32_t NodeChange(const core::v1::Node& before, const core::v1::Node& after);
uint32_t PodChange(const PodInfo& before, const PodInfo& after);          // of a waiting Pod
uint32_t AssignedPodChange(const PodInfo& before, const PodInfo& after);  // of one on a node

}  // namespace cox::scheduler
