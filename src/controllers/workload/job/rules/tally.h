// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/index_set.h"
#include "controllers/workload/job/rules/policies.h"

namespace cox::controllers {

// Maximum number of uids in status.uncountedTerminatedPods.
inline constexpr size_t kMaxUncounted = 500;

// Counts a Job's terminated Pods so that none is counted twice or lost, even if the controller or a
// node fails:
//   1. the uid of a terminated Pod is added to status.uncountedTerminatedPods;
//   2. its finalizer, which has kept the object, is removed;
//   3. the uid is removed from the list and the counter incremented, in one write.
// A listed uid whose Pod has no finalizer is always at step 3. Successes of Indexed Jobs need no
// uids, because the set of completed indexes cannot count an index twice.
struct Tally {
  // Counters, uncountedTerminatedPods, completedIndexes and failedIndexes to store.
  batch::v1::JobStatus status;
  IndexSet succeeded_indexes;
  IndexSet failed_indexes;
  int32_t succeeded = 0;  // including those in the list
  int32_t failed = 0;
  // Pods whose finalizers can be removed after `status` is stored.
  std::vector<pods::PodPtr> release;
  // The message of a matching FailJob rule.
  std::optional<std::string> fail_job;
  // Failed Pods that this tally handles first, by the action of the matching rule. Pods that a rule
  // ignores are handled when they are released.
  std::map<FailureResult::Action, int> policy_actions;
  // With backoffLimitPerIndex: the last failed Pod of each index that has no replacement yet. It
  // keeps its finalizer, because its annotations contain the failure count of the index.
  std::map<int32_t, pods::PodPtr> awaiting_successor;
};

// Pure. `ending`: Pods are no longer replaced.
Tally CountPods(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods, bool ending);

}  // namespace cox::controllers
