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

// What the API is told about a Pod. Pure: the same state gives the same status, so that nothing is
// written twice.
namespace cox::kubelet {

// Why a container does not run now.
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
  // By the container's name, of those that cannot be started for now.
  std::map<std::string, WaitingReason, std::less<>> waiting = {};
  // Why the Pod ends, where that is not its containers' doing.
  std::optional<PodEnd> end = std::nullopt;
  // Everything of it has ended for good (PodActions::ended): the phase is a final one.
  bool ended = false;
  // Ids of those that are started again whatever their exit code says (PodView::restart).
  std::set<std::string> restart = {};
};

core::v1::PodStatus MakePodStatus(const StatusInput& input);

}  // namespace cox::kubelet
