// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace cox::kubelet {

// What a probe has come to, its thresholds counted. kUnknown: no result yet, or no such probe.
enum class ProbeOutcome : uint8_t { kUnknown, kSuccess, kFailure };

struct ContainerProbeResults {
  ProbeOutcome startup = ProbeOutcome::kUnknown;
  ProbeOutcome liveness = ProbeOutcome::kUnknown;
  ProbeOutcome readiness = ProbeOutcome::kUnknown;
  // What the probe that failed last said.
  std::string message;

  bool operator==(const ContainerProbeResults&) const = default;
};

// The results of one Pod by the runtime's id of the container: each life has its own, so that what
// was found about the last one is never held against the next.
struct PodProbeResults {
  std::map<std::string, ContainerProbeResults, std::less<>> by_id;

  ContainerProbeResults Of(std::string_view id) const {
    const auto found = by_id.find(id);
    return found == by_id.end() ? ContainerProbeResults{} : found->second;
  }
};

}  // namespace cox::kubelet
