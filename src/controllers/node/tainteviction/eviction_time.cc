// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/tainteviction/eviction_time.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "object/core/tolerations.h"

namespace cox::controllers {

using core::v1::Pod;
using core::v1::Taint;

namespace {

// The later of both times: the Pod may have been bound after the taint was added.
Time Begin(const Pod& pod, const Taint& taint) {
  const Time added = taint.timeAdded.value_or(Time());
  const auto* scheduled = FindCondition(pod.status.conditions, core::v1::kPodScheduled);
  const Time bound = scheduled == nullptr ? Time() : scheduled->lastTransitionTime;
  return std::max(added, bound);
}

}  // namespace

List<Taint> NoExecuteTaints(const core::v1::Node& node) {
  List<Taint> taints;
  for (const Taint& taint : node.spec.taints) {
    if (taint.effect == core::v1::kTaintEffectNoExecute) taints.push_back(taint);
  }
  return taints;
}

std::optional<Time> EvictionTime(const Pod& pod, const List<Taint>& no_execute) {
  std::optional<Time> first;
  for (const Taint& taint : no_execute) {
    const core::v1::Toleration* toleration =
        core_rules::FindToleration(pod.spec.tolerations, taint);
    if (toleration == nullptr) return Time();
    if (!toleration->tolerationSeconds.has_value()) continue;
    if (*toleration->tolerationSeconds <= 0) return Time();
    const Time end = Begin(pod, taint) + Duration::Seconds(*toleration->tolerationSeconds);
    if (!first.has_value() || end < *first) first = end;
  }
  return first;
}

}  // namespace cox::controllers
