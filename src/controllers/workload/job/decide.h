// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "base/clock.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/job_pod.h"
#include "controllers/workload/job/rules/policies.h"

namespace cox::controllers {

// Maximum number of Pods created or deleted in one sync.
inline constexpr size_t kMaxPodsPerSync = 500;

// The actions for a Job, in this order: remove, create, store the status, release.
struct JobPlan {
  std::vector<pods::PodPtr> remove;
  // The Pods are removed because parallelism was reduced. They do not count as failed, so their
  // finalizers are removed before the deletion.
  bool remove_uncounted = false;
  std::vector<NewPod> create;
  batch::v1::JobStatus status;  // assuming that all removals and creations succeed
  std::vector<pods::PodPtr> release;
  std::optional<Clock::Duration> requeue_after;

  struct Event {
    bool warning = false;
    std::string reason;
    std::string message;
  };
  std::vector<Event> events;  // recorded after the status is stored
  // Failed Pods by the action of the failure policy. kIgnore is counted when the Pods are released,
  // others when the status is stored.
  std::map<FailureResult::Action, int> policy_actions;
};

// Pure function of the Job, its Pods and the time.
JobPlan Decide(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods, const Time& now);

}  // namespace cox::controllers
