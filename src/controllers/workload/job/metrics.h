// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "base/clock.h"
#include "base/series_cache.h"
#include "controllers/workload/job/rules/policies.h"
#include "coxswain/controller.h"
#include "coxswain/informer.h"

namespace cox::controllers {

// The effect of a sync of a Job.
enum class SyncAction : uint8_t { kReconciling, kTracking, kPodsCreated, kPodsDeleted };

// The metrics of the Job controller, with upstream's names: job_controller_*.
//
// Threads: all methods may be called concurrently.
class JobMetrics {
 public:
  explicit JobMetrics(MetricsRegistry& registry);

  // Counts a sync and its duration.
  void Synced(const batch::v1::Job& job, bool ok, SyncAction action, Clock::Duration took);
  // Counts the Pods and the Jobs that have finished between two versions.
  void Stored(const batch::v1::Job& before, const batch::v1::Job& after);
  // Counts failed Pods that a rule of the failure policy has handled.
  void HandledByPolicy(FailureResult::Action action, int pods);

 private:
  static constexpr size_t kSyncLabels = 16;  // completion modes, results, actions
  static constexpr size_t kActions = 4;

  CounterVec& jobs_;
  CounterVec& pods_;
  SeriesCache<Counter, kSyncLabels> syncs_;
  SeriesCache<Histogram, kSyncLabels> durations_;
  SeriesCache<Counter, kActions> policy_actions_;
};

// Transitions of a terminated Pod with the tracking finalizer.
struct TrackedTransitions {
  int added = 0;    // it terminated, or was found terminated
  int deleted = 0;  // the finalizer or the Pod was removed
  bool operator==(const TrackedTransitions&) const = default;
};
// Pure; null: the Pod does not exist. If the versions between are not known, a Pod that terminated
// and lost its finalizer has made both transitions.
TrackedTransitions TransitionsBetween(const core::v1::Pod* before, const core::v1::Pod* after);

// Counts the transitions in job_controller_terminated_pods_tracking_finalizer_total, while the
// controller runs. Pods that are terminated when it starts have been added. Uses the cache's
// observers, because a handler may receive several changes as one.
Source CountTrackedPods(MetricsRegistry& registry, const Informer<core::v1::Pod>& pods);

}  // namespace cox::controllers
