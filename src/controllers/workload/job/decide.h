// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "base/clock.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/job_pod.h"

namespace cox::controllers {

// No more are made or deleted in one go: the rest comes with the next look.
inline constexpr size_t kMaxPodsPerSync = 500;

// What to do for a Job, in this order: remove, create, store the status, then release.
struct JobPlan {
  std::vector<pods::PodPtr> remove;
  // Removed because the Job wants fewer: no failures, so their finalizers go before they do.
  bool remove_uncounted = false;
  std::vector<NewPod> create;
  batch::v1::JobStatus status;  // as if all removals and creations succeed
  std::vector<pods::PodPtr> release;
  std::optional<Clock::Duration> look_again;

  struct Event {
    bool warning = false;
    std::string reason;
    std::string message;
  };
  std::vector<Event> events;  // once the status is stored
};

// Pure: everything the controller does follows from the Job, its Pods and the time.
JobPlan Decide(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods, const Time& now);

}  // namespace cox::controllers
