// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/podgc/decide.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "object/core/pod_state.h"

namespace cox::controllers {
namespace {

constexpr std::string_view kOutOfServiceTaint = "node.kubernetes.io/out-of-service";

bool IsEvicted(const core::v1::Pod& pod) {
  return pod.status.phase == core::v1::kPodFailed && pod.status.reason == "Evicted";
}

bool GoesBefore(const PodPtr& a, const PodPtr& b) {
  if (IsEvicted(*a) != IsEvicted(*b)) return IsEvicted(*a);
  if (a->metadata.creationTimestamp != b->metadata.creationTimestamp) {
    return a->metadata.creationTimestamp < b->metadata.creationTimestamp;
  }
  return a->metadata.name < b->metadata.name;
}

}  // namespace

bool IsUnscheduledAndDeleted(const core::v1::Pod& pod) {
  return pod.metadata.deletionTimestamp.has_value() && pod.spec.nodeName.empty();
}

bool IsOutOfService(const core::v1::Node& node) {
  if (IsTrue(node.status.conditions, "Ready")) return false;
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                     [](const core::v1::Taint& taint) { return taint.key == kOutOfServiceTaint; });
}

std::vector<PodPtr> BeyondThreshold(std::vector<PodPtr> ended, int threshold) {
  if (threshold <= 0 || ended.size() <= static_cast<size_t>(threshold)) return {};
  const auto end = ended.begin() + static_cast<ptrdiff_t>(ended.size() - threshold);
  std::partial_sort(ended.begin(), end, ended.end(), GoesBefore);
  ended.erase(end, ended.end());
  return ended;
}

bool MarkFailed(bool node_gone, const Time& now, core::v1::Pod& pod) {
  if (core_rules::IsTerminal(pod)) return false;
  pod.status.phase = core::v1::kPodFailed;
  if (node_gone) {
    SetCondition(pod.status.conditions,
                 core::v1::PodCondition{.type = core::v1::kDisruptionTarget,
                                        .observedGeneration = pod.metadata.generation,
                                        .status = "True",
                                        .lastProbeTime = {},
                                        .lastTransitionTime = {},
                                        .reason = "DeletionByPodGC",
                                        .message = "PodGC: node no longer exists"},
                 now);
  }
  return true;
}

}  // namespace cox::controllers
