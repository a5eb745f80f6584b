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

// What to do next for a Pod: wanted and observed in, actions out. The worker of the Pod carries
// them out and asks again whenever the runtime, a probe or the API brings news.
//
// Pure functions of their arguments, so the same state gives the same answer: an agent that was
// restarted goes on where the last one was.
namespace cox::kubelet {

// Ends a Pod though nobody deleted it: an eviction, a shutdown of the node.
struct PodEnd {
  std::string reason;  // "Evicted", "DeadlineExceeded"
  std::string message;
  Clock::WallTime deadline{};  // when what still runs is killed
};

struct PodView {
  const core::v1::Pod& pod;
  const runtime::PodState& state;
  const PodProbeResults& probes;
  const Backoff& backoff;  // by the container's name
  Clock::WallTime now;
  std::optional<PodEnd> end = std::nullopt;
  // Ids of those that were killed to be started again (ContainerToKill::restart).
  std::set<std::string> restart = {};
  // When a Pod that is being deleted is to be over by this node's clock. None: as the API says,
  // which goes by the server's.
  std::optional<Clock::WallTime> delete_by = std::nullopt;
};

struct ContainerToStart {
  std::string name;
  ContainerKind kind = ContainerKind::kMain;
  uint32_t attempt = 0;  // the restart count it will have
  // When the life before ended, or was made and not started: to be told to Backoff::Began. None for
  // the first.
  std::optional<Clock::WallTime> failed;

  bool operator==(const ContainerToStart&) const = default;
};

struct ContainerToKill {
  enum class Why : uint8_t {
    kSpecChanged,
    kLivenessFailed,
    kStartupFailed,
    kUnknownState,  // the runtime lost track of it
    kRestartAll,    // another container's rule asks for it
    kSandboxGone,
    kPodEnds,
  };
  std::string id;
  std::string name;
  Why why = Why::kPodEnds;
  std::string message;    // of the event: `Container web failed liveness probe, will be restarted`
  Clock::Duration grace;  // from now
  // Start it again when it has ended, whatever its exit code then says.
  bool restart = false;
};

// It would be started if it had not failed so often.
struct ContainerInBackoff {
  std::string name;
  Clock::WallTime until{};
  std::string message;  // `back-off 20s restarting failed container=web pod=web_default(uid)`
};

// Kills come before all else. The same kill is asked for until the container has ended: whoever
// carries it out does so once per id, with the shortest grace asked for.
struct PodActions {
  std::vector<ContainerToKill> kill;
  // Sandboxes to stop, once no container of theirs is to be waited for.
  std::vector<std::string> stop_sandboxes;
  // A new sandbox is needed before anything in `start`; none is made while `kill` is not empty.
  std::optional<uint32_t> make_sandbox;  // its attempt
  std::vector<ContainerToStart> start;
  std::vector<ContainerInBackoff> waiting;
  // Ended containers to remove, so that all begin anew (a rule that restarts all).
  std::vector<std::string> remove;
  // Ask again then, if nothing happens before.
  std::optional<Clock::WallTime> look_again;

  // The Pod will never start anything again.
  bool ending = false;
  // And nothing of it runs any more, no sandbox either: what is left is to clean up.
  bool ended = false;
  // Why it ends, where that is not in the containers: to be told in the status.
  std::optional<PodEnd> why_ended;
};

PodActions Decide(const PodView& view);

// Why the Pod's time is over, if it is: spec.activeDeadlineSeconds since status.startTime.
std::optional<PodEnd> ActiveDeadline(const core::v1::Pod& pod, Clock::WallTime now);

}  // namespace cox::kubelet
