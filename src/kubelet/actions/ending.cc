// SPDX-License-Identifier: Apache-2.0
#include "kubelet/actions/ending.h"

#include <algorithm>

namespace cox::kubelet {

using core::v1::Container;
using runtime::ContainerState;

namespace {

void Kill(const ContainerState& state, Clock::Duration grace, bool wait_for_turn,
          PodActions& actions) {
  actions.kill.push_back({.id = state.id,
                          .name = state.name,
                          .why = ContainerToKill::Why::kPodEnds,
                          .message = "Stopping container " + state.name,
                          .grace = grace,
                          .restart = false,
                          .wait_for_turn = wait_for_turn});
}

}  // namespace

bool MayRun(const ContainerState& state) {
  return state.phase == ContainerState::Phase::kRunning ||
         state.phase == ContainerState::Phase::kUnknown;
}

Clock::Duration GraceUntil(Clock::WallTime deadline, Clock::WallTime now) {
  return std::max<Clock::Duration>(deadline - now, std::chrono::seconds(1));
}

std::optional<Clock::WallTime> DeletionDeadline(const core::v1::Pod& pod) {
  // deletionTimestamp is the end of the grace period, not its start.
  const std::optional<Time>& at = pod.metadata.deletionTimestamp;
  if (!at) return std::nullopt;
  return Clock::WallTime(std::chrono::seconds(at->unix_seconds()));
}

void DecideEnding(const PodView& view, Clock::Duration grace, PodActions& actions) {
  actions.ending = true;
  const auto& inits = view.pod.spec.initContainers;
  const auto is_sidecar = [&inits](const ContainerState& state) {
    return std::any_of(inits.begin(), inits.end(), [&state](const Container& init) {
      return init.name == state.name && IsSidecar(init);
    });
  };
  for (const ContainerState& state : view.state.containers) {
    if (MayRun(state) && !is_sidecar(state)) Kill(state, grace, false, actions);
  }
  for (auto init = inits.rbegin(); init != inits.rend(); ++init) {
    const bool others_run = !actions.kill.empty();
    for (const ContainerState& state : view.state.containers) {
      const bool is_it = IsSidecar(*init) && state.name == init->name;
      if (is_it && MayRun(state)) Kill(state, grace, others_run, actions);
    }
  }
  if (!actions.kill.empty()) return;
  for (const runtime::SandboxState& sandbox : view.state.sandboxes) {
    if (sandbox.ready) actions.stop_sandboxes.push_back(sandbox.id);
  }
  actions.ended = actions.stop_sandboxes.empty();
}

}  // namespace cox::kubelet
