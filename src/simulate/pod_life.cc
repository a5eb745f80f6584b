// SPDX-License-Identifier: Apache-2.0
#include "simulate/pod_life.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "coxswain/conditions.h"
#include "object/codec/json/json.h"
#include "object/core/containers.h"
#include "object/core/pod_state.h"

namespace cox::simulate {
namespace {

using core::v1::ContainerState;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodStatus;
using Action = PodStep::Action;
using std::chrono::seconds;

// Exit code of a process that was terminated by SIGTERM.
constexpr int32_t kTerminated = 143;
constexpr std::string_view kNotReady = "NotReady";
constexpr std::string_view kCrashLoop = "CrashLoopBackOff";

Time Seconds(Clock::WallTime time) {
  return Time::FromUnix(std::chrono::floor<seconds>(time.time_since_epoch()).count());
}
Clock::WallTime Wall(const Time& time) { return Clock::WallTime(seconds(time.unix_seconds())); }

Status BadAnnotation(std::string_view name, const std::string& value, std::string_view want) {
  return Status::BadRequest("annotation " + std::string(name) + "=" + Quote(value) + ": want " +
                            std::string(want));
}

Result<std::optional<Clock::Duration>> DurationAnnotation(const Pod& pod, std::string_view name) {
  const auto found = pod.metadata.annotations.find(name);
  if (found == pod.metadata.annotations.end()) return std::optional<Clock::Duration>();
  const Result<Duration> parsed = Duration::Parse(found->second);
  if (!parsed.ok() || parsed->nanos < 0) {
    return BadAnnotation(name, found->second, "a duration such as 5s");
  }
  return std::optional(Clock::Duration(parsed->nanos));
}

void Set(PodStatus& status, const Pod& pod, std::string type, bool holds, std::string reason,
         const Time& now) {
  core::v1::PodCondition condition;
  condition.type = std::move(type);
  condition.status = holds ? "True" : "False";
  condition.reason = std::move(reason);
  condition.observedGeneration = pod.metadata.generation;
  const core::v1::PodCondition* present = FindCondition(pod.status.conditions, condition.type);
  const bool since = present != nullptr && present->status == condition.status;
  condition.lastTransitionTime = since ? present->lastTransitionTime : now;
  status.conditions.push_back(std::move(condition));
}

// Empty `why_not`: the Pod is ready.
void SetConditions(PodStatus& status, const Pod& pod, const std::string& why_not, const Time& now) {
  const bool ready = why_not.empty();
  Set(status, pod, "PodReadyToStartContainers", true, "", now);
  Set(status, pod, "Initialized", true, "", now);
  Set(status, pod, "Ready", ready, why_not, now);
  Set(status, pod, "ContainersReady", ready, why_not, now);
}

const ContainerStatus* FirstContainer(const Pod& pod) {
  return pod.status.containerStatuses.empty() ? nullptr : &pod.status.containerStatuses.front();
}

// The statuses of all containers, in the same state.
List<ContainerStatus> Containers(const Pod& pod, const ContainerState& state,
                                 const ContainerState& last, int32_t restarts, bool ready) {
  List<ContainerStatus> all;
  for (const auto& container : pod.spec.containers) {
    ContainerStatus& status = all.emplace_back();
    status.name = container.name;
    status.image = container.image;
    status.imageID = container.image;
    status.state = state;
    status.lastState = last;
    status.ready = ready;
    status.started = state.running.has_value();
    status.restartCount = restarts;
    if (!state.waiting) {
      status.containerID = "simulated://" + pod.metadata.uid + "/" + container.name;
    }
  }
  return all;
}

// Init containers have terminated before the other containers start; sidecars keep running.
List<ContainerStatus> InitContainers(const Pod& pod, const Time& now, bool ended) {
  List<ContainerStatus> all;
  for (const auto& container : pod.spec.initContainers) {
    ContainerStatus& status = all.emplace_back();
    status.name = container.name;
    status.image = container.image;
    status.imageID = container.image;
    status.containerID = "simulated://" + pod.metadata.uid + "/" + container.name;
    status.ready = true;
    const bool sidecar = core_rules::IsSidecar(container) && !ended;
    status.started = sidecar;
    if (sidecar) {
      status.state.running.emplace().startedAt = now;
    } else {
      auto& over = status.state.terminated.emplace();
      over.reason = "Completed";
      over.startedAt = over.finishedAt = now;
    }
  }
  return all;
}

ContainerState Terminated(const Pod& pod, int32_t exit_code, const Time& now) {
  ContainerState state;
  auto& over = state.terminated.emplace();
  over.exitCode = exit_code;
  over.reason = exit_code == 0 ? "Completed" : "Error";
  const ContainerStatus* was = FirstContainer(pod);
  over.startedAt = was != nullptr && was->state.running ? was->state.running->startedAt : now;
  over.finishedAt = now;
  return state;
}

PodStep Start(const Pod& pod, const DesiredPodState& desired, const std::string& host_ip,
              int32_t restarts, const Time& now) {
  PodStep step{.action = Action::kSetStatus};
  PodStatus& status = step.status;
  const bool ready = desired.fail != kNotReady;
  ContainerState running;
  running.running.emplace().startedAt = now;
  const ContainerStatus* was = FirstContainer(pod);
  status.phase = "Running";
  status.startTime = pod.status.startTime ? *pod.status.startTime : now;
  status.hostIP = host_ip;
  status.hostIPs.emplace_back().ip = host_ip;
  SetConditions(status, pod, ready ? "" : "ContainersNotReady", now);
  status.initContainerStatuses = InitContainers(pod, now, false);
  status.containerStatuses =
      Containers(pod, running, was == nullptr ? ContainerState() : was->lastState, restarts, ready);
  step.needs_address = true;
  return step;
}

// The containers never start.
PodStep Wait(const Pod& pod, const DesiredPodState& desired, const std::string& host_ip,
             const Time& now) {
  PodStep step{.action = Action::kSetStatus};
  PodStatus& status = step.status;
  ContainerState waiting;
  waiting.waiting.emplace().reason = desired.fail;
  status.phase = "Pending";
  status.startTime = pod.status.startTime ? *pod.status.startTime : now;
  status.hostIP = host_ip;
  status.hostIPs.emplace_back().ip = host_ip;
  SetConditions(status, pod, "ContainersNotReady", now);
  status.containerStatuses = Containers(pod, waiting, {}, 0, false);
  step.needs_address = true;
  return step;
}

PodStep End(const Pod& pod, int32_t exit_code, const Time& now) {
  PodStep step{.action = Action::kSetStatus};
  PodStatus& status = step.status;
  const ContainerStatus* was = FirstContainer(pod);
  status.phase = exit_code == 0 ? "Succeeded" : "Failed";
  SetConditions(status, pod, exit_code == 0 ? "PodCompleted" : "PodFailed", now);
  status.initContainerStatuses = InitContainers(pod, now, true);
  status.containerStatuses = Containers(pod, Terminated(pod, exit_code, now),
                                        was == nullptr ? ContainerState() : was->lastState,
                                        was == nullptr ? 0 : was->restartCount, false);
  return step;
}

PodStep BackOff(const Pod& pod, int32_t exit_code, const Time& now) {
  PodStep step{.action = Action::kSetStatus};
  PodStatus& status = step.status;
  ContainerState waiting;
  waiting.waiting.emplace().reason = kCrashLoop;
  const int32_t restarts = FirstContainer(pod)->restartCount;
  status.phase = "Running";
  SetConditions(status, pod, "ContainersNotReady", now);
  status.containerStatuses =
      Containers(pod, waiting, Terminated(pod, exit_code, now), restarts, false);
  step.again = RestartBackoff(restarts);
  return step;
}

PodStep Later(Clock::Duration wait) { return {.again = std::max(wait, Clock::Duration(1))}; }

PodStep BeingDeleted(const Pod& pod, const Time& now) {
  // Owners of finalizers (such as Jobs) need the terminal status.
  if (!pod.metadata.finalizers.empty() && !core_rules::IsTerminal(pod))
    return End(pod, kTerminated, now);
  return {.action = Action::kDelete};
}

}  // namespace

Result<DesiredPodState> DesiredStateOf(const Pod& pod, const Options& options) {
  DesiredPodState desired;
  COX_ASSIGN_OR_RETURN(const auto delay, DurationAnnotation(pod, kStartupDelay));
  desired.startup_delay = delay.value_or(options.startup_delay);
  COX_ASSIGN_OR_RETURN(desired.run_for, DurationAnnotation(pod, kRunFor));
  if (const auto found = pod.metadata.annotations.find(kExitCode);
      found != pod.metadata.annotations.end()) {
    const std::string& text = found->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), desired.exit_code);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || desired.exit_code < 0 ||
        desired.exit_code > 255) {
      return BadAnnotation(kExitCode, text, "a number from 0 to 255");
    }
  }
  if (const auto found = pod.metadata.annotations.find(kFail);
      found != pod.metadata.annotations.end()) {
    desired.fail = found->second;
  }
  return desired;
}

PodStep NextStep(const Pod& pod, const DesiredPodState& desired, const std::string& host_ip,
                 Clock::WallTime seen, Clock::WallTime now) {
  const Time second = Seconds(now);
  if (pod.metadata.deletionTimestamp) return BeingDeleted(pod, second);
  if (core_rules::IsTerminal(pod)) return {};
  const ContainerStatus* first = FirstContainer(pod);
  if (first == nullptr) {
    const Clock::WallTime due = seen + desired.startup_delay;
    if (due > now) return Later(due - now);
    const bool never = !desired.fail.empty() && desired.fail != kNotReady;
    return never ? Wait(pod, desired, host_ip, second) : Start(pod, desired, host_ip, 0, second);
  }
  if (first->state.running) {
    if (!desired.run_for) return {};
    const Clock::WallTime due = Wall(first->state.running->startedAt) + *desired.run_for;
    if (due > now) return Later(due - now);
    const bool over = pod.spec.restartPolicy == "Never" ||
                      (pod.spec.restartPolicy == "OnFailure" && desired.exit_code == 0);
    return over ? End(pod, desired.exit_code, second) : BackOff(pod, desired.exit_code, second);
  }
  if (first->state.waiting && first->state.waiting->reason == kCrashLoop &&
      first->lastState.terminated) {
    const Clock::WallTime due =
        Wall(first->lastState.terminated->finishedAt) + RestartBackoff(first->restartCount);
    if (due > now) return Later(due - now);
    return Start(pod, desired, host_ip, first->restartCount + 1, second);
  }
  return {};  // waits forever, or is not managed by the simulation
}

void SetPodAddress(PodStatus& status, std::string address) {
  status.podIP = address;
  status.podIPs.emplace_back().ip = std::move(address);
}

std::string StatusPatchOf(const Pod& pod, const PodStatus& status) {
  std::string body = R"({"metadata":{"uid":)";
  json::WriteString(pod.metadata.uid, &body);
  body += R"(},"status":)";
  json::Encode(PodStatus::kType, &status, &body);
  body += "}";
  return body;
}

Clock::Duration RestartBackoff(int32_t restarts) {
  constexpr seconds kFirst{10};
  constexpr seconds kMost{300};
  seconds wait = kFirst;
  for (int32_t i = 0; i < restarts && wait < kMost; ++i) wait *= 2;
  return std::min(wait, kMost);
}

void KeepUsedFields(Pod& pod) {
  Pod kept;
  kept.metadata.name = std::move(pod.metadata.name);
  kept.metadata.namespace_ = std::move(pod.metadata.namespace_);
  kept.metadata.uid = std::move(pod.metadata.uid);
  kept.metadata.resourceVersion = std::move(pod.metadata.resourceVersion);
  kept.metadata.generation = pod.metadata.generation;
  kept.metadata.deletionTimestamp = pod.metadata.deletionTimestamp;
  kept.metadata.finalizers = std::move(pod.metadata.finalizers);
  for (const std::string_view name : {kStartupDelay, kRunFor, kExitCode, kFail}) {
    const auto found = pod.metadata.annotations.find(name);
    if (found != pod.metadata.annotations.end()) {
      kept.metadata.annotations[std::string(name)] = found->second;
    }
  }
  kept.spec.nodeName = std::move(pod.spec.nodeName);
  kept.spec.restartPolicy = std::move(pod.spec.restartPolicy);
  kept.spec.hostNetwork = pod.spec.hostNetwork;
  const auto keep = [](auto& from, auto& to) {
    for (auto& container : from) {
      auto& kept_container = to.emplace_back();
      kept_container.name = std::move(container.name);
      kept_container.image = std::move(container.image);
      kept_container.restartPolicy = std::move(container.restartPolicy);
    }
  };
  keep(pod.spec.initContainers, kept.spec.initContainers);
  keep(pod.spec.containers, kept.spec.containers);
  kept.status.phase = std::move(pod.status.phase);
  kept.status.conditions = std::move(pod.status.conditions);
  kept.status.podIP = std::move(pod.status.podIP);
  kept.status.startTime = pod.status.startTime;
  // All containers have the same status, so one is sufficient.
  if (!pod.status.containerStatuses.empty()) {
    auto& first = kept.status.containerStatuses.emplace_back();
    first.state = std::move(pod.status.containerStatuses.front().state);
    first.lastState = std::move(pod.status.containerStatuses.front().lastState);
    first.restartCount = pod.status.containerStatuses.front().restartCount;
  }
  pod = std::move(kept);
}

}  // namespace cox::simulate
