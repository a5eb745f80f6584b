// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/pods/job_pod.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "controllers/shared/pods/from_template.h"
#include "coxswain/conditions.h"
#include "object/owner.h"

namespace cox::controllers {

using batch::v1::Job;
using core::v1::Container;
using core::v1::Pod;

namespace {

constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";

int32_t NumberIn(const Pod& pod, std::string_view annotation, int32_t otherwise) {
  const std::string* text = pod.metadata.annotations.Get(annotation);
  if (text == nullptr) return otherwise;
  int32_t value = otherwise;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && end == text->data() + text->size() && value >= 0 ? value
                                                                                  : otherwise;
}

void AddIndexVariable(List<Container>& containers) {
  for (Container& container : containers) {
    const bool there =
        std::any_of(container.env.begin(), container.env.end(),
                    [](const core::v1::EnvVar& one) { return one.name == kIndexVariable; });
    if (there) continue;
    core::v1::EnvVar variable;
    variable.name = std::string(kIndexVariable);
    variable.valueFrom.ensure().fieldRef = core::v1::ObjectFieldSelector{
        .fieldPath = "metadata.labels['" + std::string(kCompletionIndex) + "']"};
    container.env.push_back(std::move(variable));
  }
}

void SetIndex(const Job& job, const NewPod& wanted, Pod& pod) {
  const std::string index = std::to_string(wanted.index);
  pod.metadata.generateName = job.metadata.name + "-" + index + "-";
  pod.metadata.annotations[kCompletionIndex] = index;
  pod.metadata.labels[kCompletionIndex] = index;
  pod.spec.hostname = job.metadata.name + "-" + index;  // other Pods resolve it by DNS
  AddIndexVariable(pod.spec.initContainers);
  AddIndexVariable(pod.spec.containers);
  if (!HasBackoffLimitPerIndex(job)) return;
  pod.metadata.annotations[kIndexFailures] = std::to_string(wanted.failures);
  if (wanted.ignored_failures > 0) {
    pod.metadata.annotations[kIndexIgnoredFailures] = std::to_string(wanted.ignored_failures);
  }
}

}  // namespace

bool IsIndexed(const Job& job) { return job.spec.completionMode == batch::v1::kIndexedCompletion; }
bool IsSuspended(const Job& job) { return job.spec.suspend.value_or(false); }
bool HasBackoffLimitPerIndex(const Job& job) {
  return IsIndexed(job) && job.spec.backoffLimitPerIndex.has_value();
}
bool ReplacesOnlyFailed(const Job& job) {
  return job.spec.podReplacementPolicy == batch::v1::kFailed ||
         job.spec.podFailurePolicy.has_value();
}

bool IsTracked(const Pod& pod) { return HasFinalizer(pod.metadata, kTrackingFinalizer); }
bool HasSucceeded(const Pod& pod) { return pod.status.phase == core::v1::kPodSucceeded; }
bool HasFailed(const Pod& pod, const Job& job) {
  if (pod.status.phase == core::v1::kPodFailed) return true;
  return pod.metadata.deletionTimestamp.has_value() && !HasSucceeded(pod) &&
         !ReplacesOnlyFailed(job);
}

int32_t CompletionIndexOf(const Pod& pod) { return NumberIn(pod, kCompletionIndex, -1); }
int32_t IndexFailuresOf(const Pod& pod) { return NumberIn(pod, kIndexFailures, 0); }
int32_t IndexIgnoredFailuresOf(const Pod& pod) { return NumberIn(pod, kIndexIgnoredFailures, 0); }

Time FinishTime(const Pod& pod) {
  Time latest;
  for (const core::v1::ContainerStatus& status : pod.status.containerStatuses) {
    if (status.state.terminated) latest = std::max(latest, status.state.terminated->finishedAt);
  }
  if (!latest.IsZero()) return latest;
  if (pod.metadata.deletionTimestamp.has_value()) {
    return *pod.metadata.deletionTimestamp +
           Duration::Seconds(-pod.metadata.deletionGracePeriodSeconds.value_or(0));
  }
  const auto* ready = FindCondition(pod.status.conditions, core::v1::kPodReady);
  return ready != nullptr ? ready->lastTransitionTime : pod.metadata.creationTimestamp;
}

Pod MakeJobPod(const Job& job, const NewPod& wanted) {
  Pod pod = pods::PodFromTemplate(job.spec.template_, Job::kKind, job.metadata);
  AddFinalizer(&pod.metadata, kTrackingFinalizer);
  if (wanted.index >= 0) SetIndex(job, wanted, pod);
  return pod;
}

}  // namespace cox::controllers
