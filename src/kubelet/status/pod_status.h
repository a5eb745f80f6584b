// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "kubelet/actions/decide.h"
#include "kubelet/pod/probe_results.h"
#include "runtime/pod_state.h"

// Computes the status of a Pod. Pure: equal states give equal statuses, so that nothing is written
// twice.
namespace cox::kubelet {

// Why a container is waiting.
struct WaitingReason {
  std::string reason;  // "CrashLoopBackOff", "ErrImagePull", "CreateContainerConfigError", ...
  std::string message;
};

struct StatusInput {
  const core::v1::Pod& pod;  // with the status that the API has
  const runtime::PodState& state;
  const PodProbeResults& probes;
  Clock::WallTime now;
  std::vector<std::string> host_ips;
  std::string runtime_name = "containerd";
  // By container name, for containers that cannot be started now.
  std::map<std::string, WaitingReason, std::less<>> waiting = {};
  // Why the Pod ends, if its containers are not the reason.
  std::optional<PodEnd> end = std::nullopt;
  // The Pod has ended for good (PodActions::ended): its phase is Succeeded or Failed.
  bool ended = false;
  // Ids of containers to restart regardless of their exit code (PodView::restart).
  std::set<std::string> restart = {};
};

core::v1::PodStatus MakePodStatus(const StatusInput& input);

}  // namespace cox::kubelet
