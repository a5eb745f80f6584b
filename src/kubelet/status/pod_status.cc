// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/pod_status.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "kubelet/actions/ending.h"
#include "kubelet/pod/containers.h"
#include "kubelet/pod/restart.h"
#include "kubelet/resources/requests.h"
#include "kubelet/status/conditions.h"
#include "kubelet/status/container_status.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::ContainerStateTerminated;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodStatus;

namespace {

// The termination state of a container that has ended and does not run again yet.
const ContainerStateTerminated* Ended(const ContainerStatus& status) {
  if (status.state.terminated) return status.state.terminated.get();
  if (status.state.waiting && status.lastState.terminated) return status.lastState.terminated.get();
  return nullptr;
}

enum class InitProgress : uint8_t { kDone, kPending, kFailed };

// The restart action after the end of a container.
RestartAction After(const StatusInput& input, const Container& container, ContainerKind kind,
                    int32_t exit_code) {
  const runtime::ContainerState* newest = input.state.Newest(container.name);
  if (newest != nullptr && input.restart.contains(newest->id)) return RestartAction::kRestart;
  return AfterExit(input.pod, container, kind, exit_code);
}

bool HasBegun(const PodStatus& status) {
  return std::any_of(status.containerStatuses.begin(), status.containerStatuses.end(),
                     [](const ContainerStatus& s) { return !s.containerID.empty(); });
}

InitProgress Progress(const StatusInput& input, const PodStatus& status) {
  const Pod& pod = input.pod;
  // Main containers are created after all init containers, which may have been removed since.
  const bool begun = HasBegun(status);
  for (size_t i = 0; i < pod.spec.initContainers.size(); ++i) {
    const Container& init = pod.spec.initContainers[i];
    const ContainerStatus& at = status.initContainerStatuses[i];
    if (IsSidecar(init)) {
      if (!begun && !at.started.value_or(false)) return InitProgress::kPending;
      continue;
    }
    const ContainerStateTerminated* ended = Ended(at);
    if (ended != nullptr && ended->exitCode != 0 &&
        After(input, init, ContainerKind::kInit, ended->exitCode) == RestartAction::kNone) {
      return InitProgress::kFailed;
    }
    if (!begun && !at.ready) return InitProgress::kPending;
  }
  return InitProgress::kDone;
}

std::string PhaseByContainers(const StatusInput& input, const PodStatus& status) {
  const Pod& pod = input.pod;
  if (input.end && input.ended) return core::v1::kPodFailed;
  const InitProgress progress = Progress(input, status);
  if (progress == InitProgress::kFailed) return core::v1::kPodFailed;
  if (progress == InitProgress::kPending && !input.ended) return core::v1::kPodPending;

  bool any_runs = false;
  bool any_waits = false;
  bool any_failed = false;
  bool any_restarts = false;
  for (size_t i = 0; i < pod.spec.containers.size(); ++i) {
    const ContainerStatus& at = status.containerStatuses[i];
    const ContainerStateTerminated* ended = Ended(at);
    if (at.state.running) {
      any_runs = true;
    } else if (ended == nullptr) {
      any_waits = true;
    } else {
      any_failed |= ended->exitCode != 0;
      any_restarts |= After(input, pod.spec.containers[i], ContainerKind::kMain, ended->exitCode) !=
                      RestartAction::kNone;
    }
  }
  if (input.ended) {
    // The Pod was deleted: containers that never ran did not succeed.
    return any_failed || any_waits || any_runs ? core::v1::kPodFailed : core::v1::kPodSucceeded;
  }
  if (any_waits) return core::v1::kPodPending;
  if (any_runs || any_restarts) return core::v1::kPodRunning;
  return any_failed ? core::v1::kPodFailed : core::v1::kPodSucceeded;
}

std::string Phase(const StatusInput& input, const PodStatus& status) {
  const Pod& pod = input.pod;
  if (IsTerminal(pod)) return pod.status.phase;  // terminal phases are final
  std::string phase = PhaseByContainers(input, status);
  if (!core_rules::IsTerminalPhase(phase) || input.ended) return phase;
  // Sidecars may still be running: a terminal phase would release resources that they use.
  const bool any_runs = std::any_of(input.state.containers.begin(), input.state.containers.end(),
                                    [](const runtime::ContainerState& c) { return MayRun(c); });
  if (!any_runs) return phase;
  return HasBegun(status) ? core::v1::kPodRunning : core::v1::kPodPending;
}

bool HasNetwork(const StatusInput& input) {
  const auto& sandboxes = input.state.sandboxes;
  return !sandboxes.empty() && sandboxes.front().ready &&
         (input.pod.spec.hostNetwork || !sandboxes.front().ips.empty());
}

void SetAddresses(const StatusInput& input, PodStatus& status) {
  status.hostIP = input.host_ips.empty() ? "" : input.host_ips.front();
  status.hostIPs.clear();
  for (const std::string& ip : input.host_ips) status.hostIPs.push_back({.ip = ip});
  const auto& sandboxes = input.state.sandboxes;
  std::vector<std::string> ips;
  if (input.pod.spec.hostNetwork) {
    if (!sandboxes.empty()) ips = input.host_ips;
  } else if (!sandboxes.empty() && sandboxes.front().ready) {
    ips = sandboxes.front().ips;
  }
  // An ended Pod keeps its last addresses, for correlation with logs.
  if (ips.empty() && (input.ended || IsTerminal(input.pod))) return;
  status.podIP = ips.empty() ? "" : ips.front();
  status.podIPs.clear();
  for (const std::string& ip : ips) status.podIPs.push_back({.ip = ip});
}

void SetDisruption(const StatusInput& input, const Time& now, PodStatus& status) {
  if (!input.end || input.end->reason != "Evicted") return;
  SetCondition(status.conditions,
               core::v1::PodCondition{.type = std::string(kDisruptionTarget),
                                      .observedGeneration = input.pod.metadata.generation,
                                      .status = "True",
                                      .reason = "TerminationByKubelet",
                                      .message = input.end->message},
               now);
}

}  // namespace

PodStatus MakePodStatus(const StatusInput& input) {
  const Pod& pod = input.pod;
  PodStatus status = pod.status;  // keeps fields of other writers
  const Time now = Time::FromUnix(
      std::chrono::floor<std::chrono::seconds>(input.now.time_since_epoch()).count());
  status.observedGeneration = pod.metadata.generation;
  if (!status.startTime) status.startTime = now;
  status.qosClass = QosClass(pod);
  SetAddresses(input, status);

  status.initContainerStatuses.clear();
  status.containerStatuses.clear();
  status.ephemeralContainerStatuses.clear();
  ForEachContainer(pod, [&](const Container& container, ContainerKind kind) {
    auto& list = kind == ContainerKind::kMain        ? status.containerStatuses
                 : kind == ContainerKind::kEphemeral ? status.ephemeralContainerStatuses
                                                     : status.initContainerStatuses;
    list.push_back(MakeContainerStatus(input, container, kind));
  });

  status.phase = Phase(input, status);
  // Set reason and message together with the terminal phase, not before.
  if (input.end && core_rules::IsTerminalPhase(status.phase) && !IsTerminal(pod)) {
    status.reason = input.end->reason;
    status.message = input.end->message;
  }
  SetDisruption(input, now, status);
  SetConditions(pod, HasNetwork(input), now, status);
  return status;
}

}  // namespace cox::kubelet
