// SPDX-License-Identifier: Apache-2.0
#include "kubelet/actions/decide.h"

#include <algorithm>

#include "base/strings.h"
#include "kubelet/actions/ending.h"
#include "kubelet/pod/restart.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;
using runtime::ContainerState;
using runtime::SandboxState;
using Phase = ContainerState::Phase;
using Why = ContainerToKill::Why;

namespace {

Clock::Duration Seconds(int64_t n) {
  return std::chrono::seconds(std::clamp<int64_t>(n, 0, 1'000'000'000));
}

Clock::Duration PodGrace(const Pod& pod) {
  return Seconds(pod.spec.terminationGracePeriodSeconds.value_or(30));
}

// Decides for one Pod that should run.
class Decision {
 public:
  Decision(const PodView& view, PodActions& actions)
      : view_(view), pod_(view.pod), actions_(actions) {}

  void Run() {
    if (RestartAll()) return;
    if (!SandboxUsable()) {
      ReplaceSandbox();
      return;
    }
    bool goes_on = InitContainers();
    if (initialized_) {
      for (const Container& main : pod_.spec.containers) {
        goes_on |= Keep(main, ContainerKind::kMain);
      }
    }
    if (!goes_on) {
      // No container runs or will be restarted: sidecars and the sandbox are not kept without one.
      const PodActions nothing;
      actions_ = nothing;
      DecideEnding(view_, PodGrace(pod_), actions_);
      return;
    }
    EphemeralContainers();
  }

 private:
  // --- The sandbox.

  bool SandboxUsable() const {
    const auto& sandboxes = view_.state.sandboxes;
    if (sandboxes.empty() || !sandboxes.front().ready) return false;
    const auto ready = std::count_if(sandboxes.begin(), sandboxes.end(),
                                     [](const SandboxState& s) { return s.ready; });
    // Two ready sandboxes are two networks; it is unknown which of them the containers are in.
    if (ready > 1) return false;
    return pod_.spec.hostNetwork || !sandboxes.front().ips.empty();
  }

  void ReplaceSandbox() {
    if (!WantsToRun()) {
      DecideEnding(view_, PodGrace(pod_), actions_);
      return;
    }
    for (const ContainerState& state : view_.state.containers) {
      if (!MayRun(state)) continue;
      Kill(state, Why::kSandboxGone, "The sandbox of the Pod has changed", PodGrace(pod_), false);
    }
    if (!actions_.kill.empty()) return;
    const auto& sandboxes = view_.state.sandboxes;
    for (const SandboxState& sandbox : sandboxes) {
      if (sandbox.ready) actions_.stop_sandboxes.push_back(sandbox.id);
    }
    actions_.make_sandbox = sandboxes.empty() ? 0 : sandboxes.front().attempt + 1;
    // These start as soon as the sandbox exists: the first init container, or all main containers.
    if (!pod_.spec.initContainers.empty()) {
      const Container& first = pod_.spec.initContainers.front();
      Start(first, IsSidecar(first) ? ContainerKind::kSidecar : ContainerKind::kInit);
      return;
    }
    for (const Container& main : pod_.spec.containers) {
      const ContainerState* state = view_.state.Newest(main.name);
      if (state == nullptr || Again(main, ContainerKind::kMain, *state)) {
        Start(main, ContainerKind::kMain);
      }
    }
    EphemeralContainers();
  }

  // Whether a Pod without a usable sandbox has containers that still need one.
  bool WantsToRun() const {
    for (const Container& init : pod_.spec.initContainers) {
      const ContainerState* state = view_.state.Newest(init.name);
      if (IsSidecar(init) || state == nullptr || state->phase != Phase::kExited) continue;
      if (state->exit_code != 0 && !Again(init, ContainerKind::kInit, *state)) return false;
    }
    return std::any_of(pod_.spec.containers.begin(), pod_.spec.containers.end(),
                       [this](const Container& main) {
                         const ContainerState* state = view_.state.Newest(main.name);
                         // A container that ran when the sandbox ended was killed: treat it as
                         // failed.
                         if (state == nullptr) return !HasRunBefore(main) || !Never(main);
                         if (state->phase == Phase::kCreated) return true;
                         if (state->phase != Phase::kExited) return !Never(main);
                         return Again(main, ContainerKind::kMain, *state);
                       });
  }
  bool Never(const Container& main) const {
    return AfterProbeFailure(pod_, main, ContainerKind::kMain) == RestartAction::kNone;
  }
  // According to the API status, because the runtime may have removed the container.
  bool HasRunBefore(const Container& container) const {
    const core::v1::ContainerStatus* status = FindStatus(pod_, container.name);
    return status != nullptr && !status->containerID.empty();
  }

  // --- Init containers.

  // The instance in the current sandbox: a new sandbox has new memory volumes and a new network, so
  // all init containers run again.
  const ContainerState* Current(const Container& container) const {
    const ContainerState* state = view_.state.Newest(container.name);
    return state != nullptr && state->created >= view_.state.sandboxes.front().created ? state
                                                                                       : nullptr;
  }

  // True while an init container has to run or to be waited for. Sets initialized_.
  bool InitContainers() {
    const auto& inits = pod_.spec.initContainers;
    // If a main container exists, all init containers have completed, even if they are removed by
    // now.
    const bool begun =
        std::any_of(pod_.spec.containers.begin(), pod_.spec.containers.end(),
                    [this](const Container& main) { return Current(main) != nullptr; });
    size_t reached = begun ? inits.size() : 0;
    for (size_t i = 0; i < inits.size(); ++i) {
      if (Current(inits[i]) != nullptr) reached = std::max(reached, i);
    }
    for (size_t i = 0; i < inits.size(); ++i) {
      const bool done_before = i < reached;
      if (IsSidecar(inits[i])) {
        if (Sidecar(inits[i]) || done_before) continue;
        return true;
      }
      if (done_before) continue;
      switch (Init(inits[i])) {
        case Step::kNext:
          continue;
        case Step::kWait:
          return true;
        case Step::kFailed:
          return false;
      }
    }
    initialized_ = true;
    return false;
  }

  enum class Step : uint8_t { kNext, kWait, kFailed };
  Step Init(const Container& init) {
    const ContainerState* state = Current(init);
    if (state == nullptr) {
      Start(init, ContainerKind::kInit);
      return Step::kWait;
    }
    if (state->phase == Phase::kCreated) {
      Restart(init, ContainerKind::kInit, state->created);
      return Step::kWait;
    }
    if (state->phase == Phase::kUnknown) {
      KillUnknown(*state);
      return Step::kWait;
    }
    if (state->phase == Phase::kRunning) {
      if (state->spec_hash != SpecHash(init)) KillChanged(*state);
      return Step::kWait;
    }
    if (state->exit_code == 0 && !view_.restart.contains(state->id)) return Step::kNext;
    if (!Again(init, ContainerKind::kInit, *state)) return Step::kFailed;
    Restart(init, ContainerKind::kInit, state->finished);
    return Step::kWait;
  }

  // True if the next container may start: the sidecar runs and its startup probe has succeeded.
  bool Sidecar(const Container& sidecar) {
    const ContainerState* state = Current(sidecar);
    if (state == nullptr) {
      Start(sidecar, ContainerKind::kSidecar);
      return false;
    }
    if (!Keep(sidecar, ContainerKind::kSidecar)) return false;
    return state->phase == Phase::kRunning && !IsKillRequested(state->id) &&
           (!sidecar.startupProbe || view_.probes.Of(state->id).startup == ProbeOutcome::kSuccess);
  }

  // --- Main containers and sidecars.

  // Keeps a container running according to its restart policy. False if it has ended and is not
  // restarted.
  bool Keep(const Container& container, ContainerKind kind) {
    const ContainerState* state = view_.state.Newest(container.name);
    if (state == nullptr) {
      Start(container, kind);
      return true;
    }
    switch (state->phase) {
      case Phase::kCreated:
        // The start failed, or the kubelet stopped before it.
        Restart(container, kind, state->created);
        return true;
      case Phase::kUnknown:
        KillUnknown(*state);
        return true;
      case Phase::kExited:
        if (!Again(container, kind, *state)) return false;
        Restart(container, kind, state->finished);
        return true;
      default:
        CheckRunning(container, kind, *state);
        return true;
    }
  }

  void CheckRunning(const Container& container, ContainerKind kind, const ContainerState& state) {
    if (state.spec_hash != SpecHash(container)) {
      KillChanged(state);
      return;
    }
    const ContainerProbeResults results = view_.probes.Of(state.id);
    const bool again = AfterProbeFailure(pod_, container, kind) != RestartAction::kNone;
    if (container.startupProbe && results.startup == ProbeOutcome::kFailure) {
      KillFailed(state, Why::kStartupFailed, "startup", *container.startupProbe, again);
    } else if (container.livenessProbe && results.liveness == ProbeOutcome::kFailure) {
      KillFailed(state, Why::kLivenessFailed, "liveness", *container.livenessProbe, again);
    }
  }

  void EphemeralContainers() {
    for (const core::v1::EphemeralContainer& ephemeral : pod_.spec.ephemeralContainers) {
      const std::string& name = ephemeral.ephemeralContainerCommon.name;
      const core::v1::ContainerStatus* status = FindStatus(pod_, name);
      // An ephemeral container starts only once, even if the runtime has removed it.
      if (view_.state.Newest(name) != nullptr) continue;
      if (status != nullptr && !status->containerID.empty()) continue;
      Start(AsContainer(ephemeral), ContainerKind::kEphemeral);
    }
  }

  // --- Restart rules with the action RestartAllContainers.

  bool RestartAll() {
    bool asked = false;
    ForEachContainer(pod_, [&](const Container& container, ContainerKind kind) {
      const ContainerState* state = view_.state.Newest(container.name);
      asked |= state != nullptr && state->phase == Phase::kExited &&
               AfterExit(pod_, container, kind, state->exit_code) == RestartAction::kRestartAll;
    });
    if (!asked) return false;
    for (const ContainerState& state : view_.state.containers) {
      if (!MayRun(state)) continue;
      Kill(state, Why::kRestartAll, "Restarting all containers", PodGrace(pod_), false);
    }
    if (!actions_.kill.empty()) return true;
    for (const ContainerState& state : view_.state.containers) {
      actions_.remove.push_back(state.id);
    }
    return true;
  }

  // --- Actions.

  bool Again(const Container& container, ContainerKind kind, const ContainerState& state) const {
    if (state.phase != Phase::kExited || view_.restart.contains(state.id)) return true;
    return AfterExit(pod_, container, kind, state.exit_code) != RestartAction::kNone;
  }

  void Start(const Container& container, ContainerKind kind) {
    actions_.start.push_back(
        {.name = container.name, .kind = kind, .attempt = NextAttempt(container), .failed = {}});
  }
  void Restart(const Container& container, ContainerKind kind, Clock::WallTime failed) {
    const Clock::Duration wait = view_.backoff.Remaining(container.name, failed, view_.now);
    if (wait > Clock::Duration()) {
      const Clock::WallTime until =
          view_.now + std::chrono::duration_cast<Clock::WallTime::duration>(wait);
      const Clock::Duration delay = view_.backoff.Delay(container.name);
      actions_.waiting.push_back(
          {.name = container.name,
           .until = until,
           .message = "back-off " + FormatDuration(delay) + " restarting failed container=" +
                      container.name + " pod=" + pod_.metadata.name + "_" +
                      pod_.metadata.namespace_ + "(" + pod_.metadata.uid + ")"});
      RequeueAt(until);
      return;
    }
    actions_.start.push_back({.name = container.name,
                              .kind = kind,
                              .attempt = NextAttempt(container),
                              .failed = failed});
  }
  uint32_t NextAttempt(const Container& container) const {
    const ContainerState* state = view_.state.Newest(container.name);
    if (state != nullptr) return state->attempt + 1;
    if (!HasRunBefore(container)) return 0;
    return static_cast<uint32_t>(FindStatus(pod_, container.name)->restartCount) + 1;
  }
  void RequeueAt(Clock::WallTime at) {
    actions_.requeue_at = std::min(actions_.requeue_at.value_or(at), at);
  }

  void Kill(const ContainerState& state, Why why, std::string message, Clock::Duration grace,
            bool restart) {
    actions_.kill.push_back({.id = state.id,
                             .name = state.name,
                             .why = why,
                             .message = std::move(message),
                             .grace = grace,
                             .restart = restart});
  }
  void KillUnknown(const ContainerState& state) {
    Kill(state, Why::kUnknownState,
         "Container is in \"unknown\" state, try killing it before restart", PodGrace(pod_), true);
  }
  void KillChanged(const ContainerState& state) {
    Kill(state, Why::kSpecChanged,
         "Container " + state.name + " definition changed, will be restarted", PodGrace(pod_),
         true);
  }
  void KillFailed(const ContainerState& state, Why why, std::string_view which,
                  const core::v1::Probe& probe, bool again) {
    std::string message = "Container " + state.name + " failed " + std::string(which) + " probe";
    if (again) message += ", will be restarted";
    const Clock::Duration grace = probe.terminationGracePeriodSeconds
                                      ? Seconds(*probe.terminationGracePeriodSeconds)
                                      : PodGrace(pod_);
    Kill(state, why, std::move(message), grace, again);
  }
  bool IsKillRequested(std::string_view id) const {
    return std::any_of(actions_.kill.begin(), actions_.kill.end(),
                       [id](const ContainerToKill& kill) { return kill.id == id; });
  }

  const PodView& view_;
  const Pod& pod_;
  PodActions& actions_;
  bool initialized_ = false;
};

}  // namespace

std::optional<PodEnd> ActiveDeadline(const Pod& pod, Clock::WallTime now) {
  if (!pod.spec.activeDeadlineSeconds || !pod.status.startTime) return std::nullopt;
  const Clock::WallTime deadline(
      std::chrono::seconds(pod.status.startTime->unix_seconds() + *pod.spec.activeDeadlineSeconds));
  if (now < deadline) return std::nullopt;
  return PodEnd{
      .reason = "DeadlineExceeded",
      .message = "Pod was active on the node longer than the specified deadline",
      .deadline = now + std::chrono::duration_cast<Clock::WallTime::duration>(PodGrace(pod))};
}

PodActions Decide(const PodView& view) {
  PodActions actions;
  // If several reasons to end apply, the earliest deadline determines the grace period.
  std::optional<Clock::WallTime> deadline =
      view.delete_by ? view.delete_by : DeletionDeadline(view.pod);
  std::optional<PodEnd> end = view.end ? view.end : ActiveDeadline(view.pod, view.now);
  if (end) deadline = std::min(deadline.value_or(end->deadline), end->deadline);
  if (deadline || IsTerminal(view.pod)) {
    DecideEnding(view, deadline ? GraceUntil(*deadline, view.now) : PodGrace(view.pod), actions);
    actions.why_ended = std::move(end);
    return actions;
  }
  Decision(view, actions).Run();
  if (!actions.ending && view.pod.spec.activeDeadlineSeconds && view.pod.status.startTime) {
    const Clock::WallTime over(std::chrono::seconds(view.pod.status.startTime->unix_seconds() +
                                                    *view.pod.spec.activeDeadlineSeconds));
    actions.requeue_at = std::min(actions.requeue_at.value_or(over), over);
  }
  return actions;
}

}  // namespace cox::kubelet
