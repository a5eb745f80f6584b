// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/batch/v1.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/job/pods/index_set.h"

namespace cox::controllers {

// More uids than this are not put into a status at once.
inline constexpr size_t kMaxUncounted = 500;

// How many of a Job's Pods have ended, counted so that none is counted twice or lost, whenever this
// program or a node fails:
//   1. the uid of a Pod that has ended is written to status.uncountedTerminatedPods;
//   2. its finalizer, which has kept the object until now, is taken off;
//   3. the uid is taken from the list and the counter is raised, in one write.
// A uid whose Pod has no finalizer any more is at step 3, whatever happened before. Indexed Jobs
// need no uids for success: the set of completed indexes cannot count one twice.
struct Tally {
  // counters, uncountedTerminatedPods, completedIndexes, failedIndexes as they should be stored.
  batch::v1::JobStatus status;
  IndexSet succeeded_indexes;
  IndexSet failed_indexes;
  int32_t succeeded = 0;  // those in the list too
  int32_t failed = 0;
  // Whose finalizers may go, once `status` is stored.
  std::vector<pods::PodPtr> release;
  // What the failure policy says about the Job as a whole.
  std::optional<std::string> fail_job;
  // With backoffLimitPerIndex: the last Pod of each index, which failed and has no successor yet.
  // It keeps its finalizer, for it knows how often the index has failed.
  std::map<int32_t, pods::PodPtr> awaiting_successor;
};

// Pure. `ending`: no Pod will have a successor any more.
Tally CountPods(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods, bool ending);

}  // namespace cox::controllers
