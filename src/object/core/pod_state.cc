// SPDX-License-Identifier: Apache-2.0
#include "object/core/pod_state.h"

namespace cox::core_rules {

bool IsTerminal(const core::v1::Pod& pod) { return IsTerminalPhase(pod.status.phase); }

bool IsTerminalPhase(std::string_view phase) {
  return phase == core::v1::kPodSucceeded || phase == core::v1::kPodFailed;
}

bool IsReady(const core::v1::Pod& pod) {
  for (const core::v1::PodCondition& condition : pod.status.conditions) {
    if (condition.type == core::v1::kPodReady) return condition.status == core::v1::kConditionTrue;
  }
  return false;
}

}  // namespace cox::core_rules
