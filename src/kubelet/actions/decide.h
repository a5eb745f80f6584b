// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "kubelet/actions/backoff.h"
#include "kubelet/pod/containers.h"
#include "kubelet/pod/probe_results.h"
#include "runtime/pod_state.h"

// Computes the next actions for a Pod from its desired and its observed state. The Pod's worker
// executes the actions and calls Decide again after each event of the runtime, a probe or the API.
//
// Pure functions of their arguments: a restarted kubelet continues where the last one stopped.
namespace cox::kubelet {

// Ends a Pod without an API deletion: an eviction, a node shutdown, an exceeded active deadline.
struct PodEnd {
  std::string reason;  // "Evicted", "DeadlineExceeded"
  std::string message;
  Clock::WallTime deadline{};  // when containers that still run are killed
};

struct PodView {
  const core::v1::Pod& pod;
  const runtime::PodState& state;
  const PodProbeResults& probes;
  const Backoff& backoff;  // keyed by container name
  Clock::WallTime now;
  std::optional<PodEnd> end = std::nullopt;
  // Ids of containers that were killed in order to be restarted (ContainerToKill::restart).
  std::set<std::string> restart = {};
  // The deadline of a Pod that is being deleted, by this node's clock. None: deletionTimestamp,
  // which is set by the API server's clock.
  std::optional<Clock::WallTime> delete_by = std::nullopt;
};

struct ContainerToStart {
  std::string name;
  ContainerKind kind = ContainerKind::kMain;
  uint32_t attempt = 0;  // the restart count it will have
  // When the previous instance ended, or was created but not started; the argument of
  // Backoff::Began. None for the first instance.
  std::optional<Clock::WallTime> failed;

  bool operator==(const ContainerToStart&) const = default;
};

struct ContainerToKill {
  enum class Why : uint8_t {
    kSpecChanged,
    kLivenessFailed,
    kStartupFailed,
    kUnknownState,  // the runtime lost track of it
    kRestartAll,    // another container's restart rule requires it
    kSandboxGone,
    kPodEnds,
  };
  std::string id;
  std::string name;
  Why why = Why::kPodEnds;
  std::string message;    // of the event: `Container web failed liveness probe, will be restarted`
  Clock::Duration grace;  // from now
  // Restart the container after it has ended, regardless of its exit code.
  bool restart = false;
  // See KillOrder.
  bool wait_for_turn = false;
};

// A container whose restart is delayed by backoff.
struct ContainerInBackoff {
  std::string name;
  Clock::WallTime until{};
  std::string message;  // `back-off 20s restarting failed container=web pod=web_default(uid)`
};

// Kills come first. The same kill is returned until the container has ended; the caller executes it
// once per id, with the shortest grace period returned. A kill with wait_for_turn is returned
// without it as soon as the container's turn has come.
struct PodActions {
  std::vector<ContainerToKill> kill;
  // Sandboxes to stop; none of their containers needs to be waited for.
  std::vector<std::string> stop_sandboxes;
  // A new sandbox is needed before `start`. None is created while `kill` is not empty.
  std::optional<uint32_t> make_sandbox;  // its attempt
  std::vector<ContainerToStart> start;
  std::vector<ContainerInBackoff> waiting;
  // Ended containers to remove, because a RestartAllContainers rule restarts the whole Pod.
  std::vector<std::string> remove;
  // When to call Decide again if no event arrives before.
  std::optional<Clock::WallTime> requeue_at;

  // The Pod will never start a container again.
  bool ending = false;
  // All containers and sandboxes have ended; only cleanup is left.
  bool ended = false;
  // The reason for the status, if the containers do not show it.
  std::optional<PodEnd> why_ended;
};

PodActions Decide(const PodView& view);

// Set if spec.activeDeadlineSeconds have passed since status.startTime.
std::optional<PodEnd> ActiveDeadline(const core::v1::Pod& pod, Clock::WallTime now);

}  // namespace cox::kubelet
