// SPDX-License-Identifier: Apache-2.0
#include "kubelet/status/conditions.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "coxswain/conditions.h"
#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodCondition;
using core::v1::PodStatus;

namespace {

const ContainerStatus* Find(const List<ContainerStatus>& statuses, std::string_view name) {
  for (const ContainerStatus& status : statuses) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

// "containers with <what>: [a b]"
std::string Naming(std::string_view what, const std::vector<std::string>& names) {
  return "containers with " + std::string(what) + ": [" + Join(names, " ") + "]";
}

std::string Sentence(const std::vector<std::string>& unknown, std::string_view what,
                     const std::vector<std::string>& wrong) {
  std::vector<std::string> parts;
  if (!unknown.empty()) parts.push_back(Naming("unknown status", unknown));
  if (!wrong.empty()) parts.push_back(Naming(what, wrong));
  return Join(parts, ", ");
}

bool IsOver(const PodStatus& status, PodCondition& condition) {
  if (status.phase == core::v1::kPodSucceeded) {
    condition.reason = "PodCompleted";
    return true;
  }
  if (status.phase == core::v1::kPodFailed) {
    condition.reason = "PodFailed";
    return true;
  }
  return false;
}

PodCondition ContainersReady(const Pod& pod, const PodStatus& status) {
  PodCondition condition{.type = std::string(kContainersReady), .status = "False"};
  if (IsOver(status, condition)) return condition;
  std::vector<std::string> unknown;
  std::vector<std::string> unready;
  const auto look = [&](const Container& container, const List<ContainerStatus>& statuses) {
    const ContainerStatus* found = Find(statuses, container.name);
    if (found == nullptr) {
      unknown.push_back(container.name);
    } else if (!found->ready) {
      unready.push_back(container.name);
    }
  };
  for (const Container& init : pod.spec.initContainers) {
    if (IsSidecar(init)) look(init, status.initContainerStatuses);
  }
  for (const Container& main : pod.spec.containers) look(main, status.containerStatuses);
  condition.message = Sentence(unknown, "unready status", unready);
  if (condition.message.empty()) {
    condition.status = "True";
  } else {
    condition.reason = "ContainersNotReady";
  }
  return condition;
}

PodCondition Ready(const Pod& pod, const PodStatus& status, const PodCondition& containers_ready) {
  PodCondition condition = containers_ready;
  condition.type = kReady;
  if (condition.status != "True") return condition;
  std::vector<std::string> missing;
  for (const core::v1::PodReadinessGate& gate : pod.spec.readinessGates) {
    const PodCondition* found = FindCondition(status.conditions, gate.conditionType);
    if (found == nullptr) {
      missing.push_back("corresponding condition of pod readiness gate " +
                        Quote(gate.conditionType) + " does not exist.");
    } else if (found->status != "True") {
      missing.push_back("the status of pod readiness gate " + Quote(gate.conditionType) +
                        " is not \"True\", but " + found->status);
    }
  }
  if (!missing.empty()) {
    condition.status = "False";
    condition.reason = "ReadinessGatesNotReady";
    condition.message = Join(missing, ", ");
  }
  return condition;
}

PodCondition Initialized(const Pod& pod, const PodStatus& status) {
  PodCondition condition{.type = std::string(kInitialized), .status = "True"};
  if (status.phase == core::v1::kPodSucceeded) {
    condition.reason = "PodCompleted";
    return condition;
  }
  std::vector<std::string> unknown;
  std::vector<std::string> incomplete;
  for (const Container& init : pod.spec.initContainers) {
    const ContainerStatus* found = Find(status.initContainerStatuses, init.name);
    if (found == nullptr) {
      unknown.push_back(init.name);
    } else if (IsSidecar(init) ? !found->started.value_or(false) : !found->ready) {
      incomplete.push_back(init.name);
    }
  }
  // The Pod stays initialized when a sidecar restarts after main containers have started.
  const bool begun = std::any_of(status.containerStatuses.begin(), status.containerStatuses.end(),
                                 [](const ContainerStatus& s) { return !s.containerID.empty(); });
  condition.message = Sentence(unknown, "incomplete status", incomplete);
  if (begun || condition.message.empty()) {
    condition.message.clear();
    return condition;
  }
  condition.status = "False";
  condition.reason = "ContainersNotInitialized";
  return condition;
}

}  // namespace

bool IsKubeletCondition(std::string_view type) {
  return type == kReadyToStartContainers || type == kInitialized || type == kReady ||
         type == kContainersReady || type == kPodScheduled || type == kDisruptionTarget;
}

void SetConditions(const Pod& pod, bool sandbox_ready, const Time& now, PodStatus& status) {
  const PodCondition containers_ready = ContainersReady(pod, status);
  for (PodCondition condition :
       {PodCondition{.type = std::string(kReadyToStartContainers),
       .status = sandbox_ready ? "True" : "False"},
        Initialized(pod, status), Ready(pod, status, containers_ready), containers_ready}) {
    condition.observedGeneration = pod.metadata.generation;
    SetCondition(status.conditions, std::move(condition), now);
  }
  // Normally the scheduler sets it. Pods created with spec.nodeName (static Pods) have no such
  // condition.
  PodCondition* scheduled = FindCondition(status.conditions, kPodScheduled);
  if (scheduled == nullptr || scheduled->status != "True") {
    SetCondition(status.conditions,
                 PodCondition{.type = std::string(kPodScheduled),
                              .observedGeneration = pod.metadata.generation,
                              .status = "True"},
                 now);
  } else {
    scheduled->observedGeneration = pod.metadata.generation;
  }
}

}  // namespace cox::kubelet
