// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/container_status.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::ContainerStateTerminated;
using core::v1::ContainerStateWaiting;
using core::v1::ContainerStatus;
using Phase = runtime::ContainerState::Phase;

namespace {

Time ToTime(Clock::WallTime at) {
  if (at == Clock::WallTime{}) return {};
  return Time::FromUnix(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
}

std::string ContainerId(const StatusInput& input, const std::string& id) {
  return id.empty() ? "" : input.runtime_name + "://" + id;
}

ContainerStateTerminated Terminated(const StatusInput& input,
                                    const runtime::ContainerState& state) {
  std::string reason = state.reason;
  if (reason.empty()) reason = state.exit_code == 0 ? "Completed" : "Error";
  return {.exitCode = state.exit_code,
          .reason = std::move(reason),
          .message = state.message,
          .startedAt = ToTime(state.started),
          .finishedAt = ToTime(state.finished),
          .containerID = ContainerId(input, state.id)};
}

// For a container that the API reports as running, but that is not in the runtime.
ContainerStateTerminated Lost(const ContainerStatus& before) {
  return {.exitCode = 137,
          .reason = "ContainerStatusUnknown",
          .message = "The container could not be located when the pod was terminated",
          .startedAt = before.state.running ? before.state.running->startedAt : Time{},
          .containerID = before.containerID};
}

// The newest ended instance other than `newest`; null if the runtime has none.
const runtime::ContainerState* EndedBefore(const StatusInput& input,
                                           const runtime::ContainerState* newest) {
  for (const runtime::ContainerState& state : input.state.containers) {
    if (&state == newest || newest == nullptr || state.name != newest->name) continue;
    if (state.phase == Phase::kExited) return &state;
  }
  return nullptr;
}

// Sets lastState for a container that runs, was just created, or has ended for good.
void SetLastState(const StatusInput& input, const runtime::ContainerState* newest,
                  const ContainerStatus* before, ContainerStatus& status) {
  if (const runtime::ContainerState* ended = EndedBefore(input, newest)) {
    status.lastState.terminated = Terminated(input, *ended);
    return;
  }
  if (before == nullptr) return;
  // The previous container was removed from the runtime; the API still has its state.
  if (before->state.terminated && before->containerID != status.containerID) {
    status.lastState.terminated = before->state.terminated;
  } else {
    status.lastState = before->lastState;
  }
}

void SetState(const StatusInput& input, const Container& container, ContainerStatus& status) {
  const runtime::ContainerState* newest = input.state.Newest(container.name);
  const ContainerStatus* before = FindStatus(input.pod, container.name);
  const auto waiting = input.waiting.find(container.name);
  ContainerStateWaiting not_yet{
      .reason = input.pod.spec.initContainers.empty() ? "ContainerCreating" : "PodInitializing"};
  if (waiting != input.waiting.end()) {
    not_yet = {.reason = waiting->second.reason, .message = waiting->second.message};
  }
  if (newest == nullptr) {
    if (before != nullptr && !before->containerID.empty()) {
      status.restartCount = before->restartCount;
      status.containerID = before->containerID;
      status.imageID = before->imageID;
      if (before->state.terminated && waiting == input.waiting.end()) {
        // It ended and was removed from the runtime.
        status.state = before->state;
        status.lastState = before->lastState;
        return;
      }
      if (before->state.running) {
        status.lastState.terminated = Lost(*before);
        if (input.ended) {
          status.state.terminated = status.lastState.terminated;
          status.lastState = before->lastState;
          return;
        }
      } else {
        status.lastState = before->lastState;
        if (before->state.terminated) status.lastState.terminated = before->state.terminated;
      }
    }
    status.state.waiting = not_yet;
    return;
  }
  status.restartCount = static_cast<int32_t>(newest->attempt);
  status.containerID = ContainerId(input, newest->id);
  if (!newest->image.empty()) status.image = newest->image;
  status.imageID = newest->image_id;
  switch (newest->phase) {
    case Phase::kRunning:
      status.state.running = core::v1::ContainerStateRunning{.startedAt = ToTime(newest->started)};
      SetLastState(input, newest, before, status);
      return;
    case Phase::kExited:
      if (waiting != input.waiting.end()) {
        status.state.waiting = not_yet;
        status.lastState.terminated = Terminated(input, *newest);
        return;
      }
      status.state.terminated = Terminated(input, *newest);
      SetLastState(input, newest, before, status);
      return;
    case Phase::kCreated:
      status.state.waiting = not_yet;
      SetLastState(input, newest, before, status);
      return;
    case Phase::kUnknown:
      status.state.terminated = Terminated(input, *newest);
      status.state.terminated->reason = "ContainerStatusUnknown";
      status.state.terminated->message =
          "The container could not be located when the pod was terminated";
      status.state.terminated->exitCode = 137;
      SetLastState(input, newest, before, status);
      return;
  }
}

void SetReadiness(const StatusInput& input, const Container& container, ContainerKind kind,
                  ContainerStatus& status) {
  const runtime::ContainerState* newest = input.state.Newest(container.name);
  const bool running = status.state.running.has_value();
  const ContainerProbeResults results =
      newest == nullptr ? ContainerProbeResults{} : input.probes.Of(newest->id);
  const bool started =
      running && (!container.startupProbe || results.startup == ProbeOutcome::kSuccess);
  status.started = started;
  if (kind == ContainerKind::kInit) {
    // An init container is ready when it has completed.
    status.ready = status.state.terminated && status.state.terminated->exitCode == 0;
  } else if (kind != ContainerKind::kEphemeral) {
    status.ready =
        started && (!container.readinessProbe || results.readiness == ProbeOutcome::kSuccess);
  }
}

}  // namespace

ContainerStatus MakeContainerStatus(const StatusInput& input, const Container& container,
                                    ContainerKind kind) {
  ContainerStatus status{.name = container.name, .image = container.image};
  SetState(input, container, status);
  SetReadiness(input, container, kind, status);
  if (kind == ContainerKind::kEphemeral) {
    status.started.reset();
    return status;
  }
  status.allocatedResources = container.resources.requests;
  const core::v1::ResourceRequirements& resources = container.resources;
  status.resources =
      core::v1::ResourceRequirements{.limits = resources.limits, .requests = resources.requests};
  for (const core::v1::VolumeMount& mount : container.volumeMounts) {
    core::v1::VolumeMountStatus shown{
        .name = mount.name, .mountPath = mount.mountPath, .readOnly = mount.readOnly};
    // Recursive read-only mounts are not supported.
    if (mount.readOnly) shown.recursiveReadOnly = "Disabled";
    status.volumeMounts.push_back(std::move(shown));
  }
  return status;
}

}  // namespace cox::kubelet
