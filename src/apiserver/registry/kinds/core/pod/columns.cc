// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/columns.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "object/core/containers.h"
#include "object/core/pod_state.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::ContainerStateTerminated;
using core::v1::ContainerStatus;
using core::v1::Pod;

constexpr Column kPodColumns[] = {
    kNameColumn,
    {.name = "Ready",
     .type = "string",
     .description = "The aggregate readiness state of this pod for accepting traffic."},
    {.name = "Status",
     .type = "string",
     .description = "The aggregate status of the containers in this pod."},
    {.name = "Restarts",
     .type = "string",
     .description = "The number of times the containers in this pod have been restarted and when "
                    "the last container in this pod has restarted."},
    kAgeColumn,
    {.name = "IP", .type = "string", .description = "IP address of the pod.", .priority = 1},
    {.name = "Node", .type = "string", .description = "Node the pod runs on.", .priority = 1},
    {.name = "Nominated Node",
     .type = "string",
     .description = "Node on which room is being made for the pod.",
     .priority = 1},
    {.name = "Readiness Gates",
     .type = "string",
     .description = "Conditions that have to be true besides those of the containers.",
     .priority = 1},
};

constexpr Column kTemplateColumns[] = {
    kNameColumn,
    {.name = "Containers", .type = "string", .description = "Names of the containers."},
    {.name = "Images", .type = "string", .description = "Images of the containers."},
    {.name = "Pod Labels", .type = "string", .description = "Labels of pods made from it."},
};

bool IsConditionTrue(const Pod& pod, std::string_view type) {
  for (const core::v1::PodCondition& condition : pod.status.conditions)
    if (condition.type == type) return condition.status == "True";
  return false;
}

// "Completed", "Error", "Signal:9", "ExitCode:1".
std::string TerminatedText(const ContainerStateTerminated& state) {
  if (!state.reason.empty()) return state.reason;
  if (state.signal != 0) return "Signal:" + std::to_string(state.signal);
  return "ExitCode:" + std::to_string(state.exitCode);
}

// Derives the cells of a row from the container statuses.
//
// A pod that is still initializing shows its progress ("Init:1/3") or the reason why it does not
// proceed; a running pod shows the first container that is not running; a pod that is being deleted
// shows that.
class PodSummary {
 public:
  explicit PodSummary(const Pod& pod) : pod_(pod), total_(pod.spec.containers.size()) {
    status_ = pod.status.reason.empty() ? pod.status.phase : pod.status.reason;
    for (const core::v1::PodCondition& condition : pod.status.conditions) {
      if (condition.type == "PodScheduled" && condition.reason == "SchedulingGated")
        status_ = "SchedulingGated";
    }
    total_ += static_cast<size_t>(std::count_if(
        pod.spec.initContainers.begin(), pod.spec.initContainers.end(), core_rules::IsSidecar));
    const bool initializing = VisitInit();
    if (!initializing || IsConditionTrue(pod, "Initialized")) VisitMain();
    if (!pod.metadata.deletionTimestamp) return;
    if (pod.status.reason == "NodeLost") {
      status_ = "Unknown";
    } else if (!core_rules::IsTerminal(pod)) {
      status_ = "Terminating";
    }
  }

  std::string Ready() const { return std::to_string(ready_) + "/" + std::to_string(total_); }
  const std::string& Status() const { return status_; }
  // "2 (5m ago)".
  std::string Restarts(const Time& now) const {
    std::string text = std::to_string(restarts_.count);
    if (restarts_.count != 0 && !restarts_.last.IsZero())
      text += " (" + Age(restarts_.last, now) + " ago)";
    return text;
  }

 private:
  struct RestartCount {
    int64_t count = 0;
    Time last;
    void Add(const ContainerStatus& status) {
      count += status.restartCount;
      if (status.lastState.terminated && status.lastState.terminated->finishedAt > last)
        last = status.lastState.terminated->finishedAt;
    }
  };

  bool IsSidecarStatus(const ContainerStatus& status) const {
    return std::any_of(
        pod_.spec.initContainers.begin(), pod_.spec.initContainers.end(),
        [&](const Container& c) { return c.name == status.name && core_rules::IsSidecar(c); });
  }

  // True if an init container has not finished, or a sidecar has not started.
  bool VisitInit() {
    const auto& statuses = pod_.status.initContainerStatuses;
    for (size_t i = 0; i < statuses.size(); ++i) {
      const ContainerStatus& status = statuses[i];
      restarts_.Add(status);
      const bool sidecar = IsSidecarStatus(status);
      if (sidecar) sidecar_restarts_.Add(status);
      const ContainerStateTerminated* end = status.state.terminated.get();
      if (end != nullptr && end->exitCode == 0) continue;
      if (sidecar && status.started.value_or(false)) {
        if (status.ready) ++ready_;
        continue;
      }
      if (end != nullptr) {
        status_ = "Init:" + TerminatedText(*end);
      } else if (status.state.waiting && !status.state.waiting->reason.empty() &&
                 status.state.waiting->reason != "PodInitializing") {
        status_ = "Init:" + status.state.waiting->reason;
      } else {
        status_ =
            "Init:" + std::to_string(i) + "/" + std::to_string(pod_.spec.initContainers.size());
      }
      return true;
    }
    return false;
  }

  // From the last to the first, so that the first container determines the status.
  void VisitMain() {
    restarts_ = sidecar_restarts_;
    bool running = false;
    const auto& statuses = pod_.status.containerStatuses;
    for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
      restarts_.Add(*status);
      if (status->state.waiting && !status->state.waiting->reason.empty()) {
        status_ = status->state.waiting->reason;
      } else if (status->state.terminated) {
        status_ = TerminatedText(*status->state.terminated);
      } else if (status->ready && status->state.running) {
        running = true;
        ++ready_;
      }
    }
    // A completed container does not make the pod completed.
    if (status_ == "Completed" && running)
      status_ = core_rules::IsReady(pod_) ? "Running" : "NotReady";
  }

  const Pod& pod_;
  size_t total_;
  size_t ready_ = 0;
  std::string status_;
  RestartCount restarts_, sidecar_restarts_;
};

std::string OrNone(std::string_view text) { return text.empty() ? "<none>" : std::string(text); }

std::string ReadinessGates(const Pod& pod) {
  if (pod.spec.readinessGates.empty()) return "<none>";
  const auto met = std::count_if(pod.spec.readinessGates.begin(), pod.spec.readinessGates.end(),
                                 [&](const core::v1::PodReadinessGate& gate) {
                                   return IsConditionTrue(pod, gate.conditionType);
                                 });
  return std::to_string(met) + "/" + std::to_string(pod.spec.readinessGates.size());
}

}  // namespace

std::span<const Column> PodColumns() { return kPodColumns; }

Cells PodRow(const Pod& pod, const Time& now) {
  const PodSummary summary(pod);
  const std::string ip = pod.status.podIPs.empty() ? pod.status.podIP : pod.status.podIPs[0].ip;
  return {pod.metadata.name,
          summary.Ready(),
          summary.Status(),
          summary.Restarts(now),
          Age(pod.metadata.creationTimestamp, now),
          OrNone(ip),
          OrNone(pod.spec.nodeName),
          OrNone(pod.status.nominatedNodeName),
          ReadinessGates(pod)};
}

std::span<const Column> PodTemplateColumns() { return kTemplateColumns; }

Cells PodTemplateRow(const core::v1::PodTemplate& pod_template) {
  std::vector<std::string> names, images, labels;
  for (const Container& container : pod_template.template_.spec.containers) {
    names.push_back(container.name);
    images.push_back(container.image);
  }
  for (const auto& [key, value] : pod_template.template_.metadata.labels)
    labels.push_back(key + "=" + value);
  return {pod_template.metadata.name, Join(names, ","), Join(images, ","),
          OrNone(Join(labels, ","))};
}

}  // namespace cox::apiserver
