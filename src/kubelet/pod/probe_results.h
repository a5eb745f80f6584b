// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace cox::kubelet {

// The result of a probe after its thresholds. kUnknown: no result yet, or no such probe.
enum class ProbeOutcome : uint8_t { kUnknown, kSuccess, kFailure };

struct ContainerProbeResults {
  ProbeOutcome startup = ProbeOutcome::kUnknown;
  ProbeOutcome liveness = ProbeOutcome::kUnknown;
  ProbeOutcome readiness = ProbeOutcome::kUnknown;
  // The message of the last failed probe.
  std::string message;

  bool operator==(const ContainerProbeResults&) const = default;
};

// The results of one Pod by container id: each instance of a container has its own, so that results
// do not carry over to the next instance.
struct PodProbeResults {
  std::map<std::string, ContainerProbeResults, std::less<>> by_id;

  ContainerProbeResults Of(std::string_view id) const {
    const auto found = by_id.find(id);
    return found == by_id.end() ? ContainerProbeResults{} : found->second;
  }
};

}  // namespace cox::kubelet
