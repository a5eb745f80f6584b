// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/batch/v1.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/job_pod.h"

// Jobs and Pods for tests.
namespace cox::controllers {

inline const Time kNow = Time::FromUnix(100'000);

inline batch::v1::Job TestJob() {
  batch::v1::Job job;
  job.metadata = {.name = "pi", .namespace_ = "ns", .uid = "job"};
  job.spec.parallelism = 1;
  job.spec.completions = 1;
  job.spec.backoffLimit = 6;
  job.spec.completionMode = "NonIndexed";
  job.spec.template_.spec.restartPolicy = "Never";
  job.status.startTime = Time::FromUnix(99'000);
  return job;
}

inline batch::v1::Job IndexedJob(int32_t completions) {
  batch::v1::Job job = TestJob();
  job.spec.completionMode = "Indexed";
  job.spec.completions = completions;
  job.spec.parallelism = completions;
  return job;
}

// A Pod with the tracking finalizer; a terminal Pod finished `ago` seconds before kNow.
inline core::v1::Pod TestPod(std::string name, std::string phase, int64_t ago = 1000) {
  core::v1::Pod pod;
  pod.metadata = {.name = name, .namespace_ = "ns", .uid = "uid-" + name};
  pod.metadata.finalizers = {std::string(kTrackingFinalizer)};
  pod.status.phase = std::move(phase);
  core::v1::ContainerStatus status;
  status.name = "main";
  if (pod.status.phase == "Failed" || pod.status.phase == "Succeeded") {
    auto& ended = status.state.terminated.ensure();
    ended.exitCode = pod.status.phase == "Failed" ? 1 : 0;
    ended.finishedAt = Time::FromUnix(kNow.unix_seconds() - ago);
  }
  pod.status.containerStatuses = {status};
  return pod;
}

inline core::v1::Pod IndexedPod(std::string name, std::string phase, int index, int failures = 0,
                                int64_t ago = 1000) {
  core::v1::Pod pod = TestPod(std::move(name), std::move(phase), ago);
  pod.metadata.annotations[kCompletionIndex] = std::to_string(index);
  pod.metadata.annotations[kIndexFailures] = std::to_string(failures);
  return pod;
}

// Without the tracking finalizer.
inline core::v1::Pod Released(core::v1::Pod pod) {
  pod.metadata.finalizers.clear();
  return pod;
}

inline std::vector<pods::PodPtr> Share(List<core::v1::Pod> pods) {
  std::vector<pods::PodPtr> out;
  for (core::v1::Pod& pod : pods) out.push_back(std::make_shared<const core::v1::Pod>(pod));
  return out;
}

inline std::vector<std::string> NamesOf(const std::vector<pods::PodPtr>& pods) {
  std::vector<std::string> names;
  for (const pods::PodPtr& pod : pods) names.push_back(pod->metadata.name);
  return names;
}

}  // namespace cox::controllers
