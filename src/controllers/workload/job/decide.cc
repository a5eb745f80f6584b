// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/decide.h"

#include <algorithm>
#include <set>

#include "controllers/shared/pods/deletion_order.h"
#include "controllers/workload/job/rules/backoff.h"
#include "controllers/workload/job/rules/outcome.h"
#include "controllers/workload/job/rules/tally.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using batch::v1::JobCondition;
using pods::PodPtr;

class Deciding {
 public:
  Deciding(const Job& job, const std::vector<PodPtr>& pods, const Time& now)
      : job_(job),
        pods_(pods),
        now_(now),
        decided_(DecidedOutcome(job)),
        tally_(CountPods(job, pods,
                         decided_.has_value() || job.metadata.deletionTimestamp.has_value())) {
    for (const PodPtr& pod : pods_) {
      if (pods::IsActive(*pod)) active_.push_back(pod);
      if (pods::IsTerminating(*pod)) ++terminating_;
      if (pods::IsActive(*pod) && pods::IsReady(*pod)) ++ready_;
    }
    plan_.status = tally_.status;
    plan_.release = tally_.release;
    plan_.policy_actions = tally_.policy_actions;
  }

  JobPlan Run() {
    Suspension();
    if (!decided_.has_value()) {
      decided_ =
          EvaluateJob(WithStatus(), pods_, tally_, static_cast<int32_t>(active_.size()), now_);
      if (decided_.has_value()) {
        Set(decided_->success ? batch::v1::kJobSuccessCriteriaMet : batch::v1::kJobFailureTarget,
            "True", decided_->reason, decided_->message);
      }
    }
    if (decided_.has_value()) {
      plan_.remove = active_;
      Finish();
    } else if (!job_.metadata.deletionTimestamp.has_value()) {
      Manage();
      RequeueAtDeadline();
    }
    Numbers();
    return std::move(plan_);
  }

 private:
  // The Job as it will be stored, because EvaluateJob reads startTime.
  Job WithStatus() const {
    Job job = job_;
    job.status = plan_.status;
    return job;
  }

  void Set(const char* type, const char* status, std::string reason, std::string message) {
    JobCondition condition;
    condition.type = type;
    condition.status = status;
    condition.lastProbeTime = now_.Rfc3339Copy();
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    SetCondition(plan_.status.conditions, std::move(condition), now_.Rfc3339Copy());
  }

  // A suspended Job has no startTime: its deadline restarts when it is resumed.
  void Suspension() {
    const bool was = IsTrue(plan_.status.conditions, batch::v1::kJobSuspended);
    if (IsSuspended(job_)) {
      if (was || decided_.has_value()) return;
      Set(batch::v1::kJobSuspended, "True", "JobSuspended", "Job suspended");
      plan_.events.push_back({false, "Suspended", "Job suspended"});
      plan_.status.startTime.reset();
      return;
    }
    if (was) {
      Set(batch::v1::kJobSuspended, "False", "JobResumed", "Job resumed");
      plan_.events.push_back({false, "Resumed", "Job resumed"});
    }
    if (!plan_.status.startTime.has_value()) plan_.status.startTime = now_.Rfc3339Copy();
  }

  // The terminal condition is set when no Pod can change the counters any more.
  void Finish() {
    const auto& uncounted = tally_.status.uncountedTerminatedPods;
    if (!active_.empty() || terminating_ > 0) return;
    if (!uncounted->succeeded.empty() || !uncounted->failed.empty()) return;
    if (!plan_.status.startTime.has_value()) plan_.status.startTime = now_.Rfc3339Copy();
    if (decided_->success) {
      Set(batch::v1::kJobComplete, "True", decided_->reason, decided_->message);
      plan_.status.completionTime = std::max(now_.Rfc3339Copy(), *plan_.status.startTime);
      plan_.events.push_back({false, "Completed", "Job completed"});
    } else {
      Set(batch::v1::kJobFailed, "True", decided_->reason, decided_->message);
      plan_.events.push_back({true, decided_->reason, decided_->message});
    }
  }

  int32_t WantActive() const {
    if (IsSuspended(job_)) return 0;
    const int32_t parallelism = job_.spec.parallelism.value_or(1);
    if (!job_.spec.completions.has_value()) {
      // After the first success, running Pods may finish, but no new ones are created.
      const auto running = static_cast<int32_t>(active_.size());
      return tally_.succeeded > 0 ? std::min(running, parallelism) : parallelism;
    }
    int32_t remaining = *job_.spec.completions - tally_.succeeded;
    if (HasBackoffLimitPerIndex(job_)) remaining -= tally_.failed_indexes.count();
    return std::clamp(remaining, 0, parallelism);
  }

  void Manage() {
    const auto want = static_cast<size_t>(WantActive());
    RemoveExcess(want);
    if (!plan_.remove.empty()) {
      plan_.remove_uncounted = true;
      return;
    }
    // With replacement policy Failed, terminating Pods still count.
    const size_t taken =
        active_.size() + (ReplacesOnlyFailed(job_) ? static_cast<size_t>(terminating_) : 0);
    if (want <= taken) return;
    const size_t missing = std::min(want - taken, kMaxPodsPerSync);
    if (!HasBackoffLimitPerIndex(job_)) {
      const Clock::Duration wait = BackoffLeft(job_, pods_, now_);
      if (wait > Clock::Duration()) return RequeueAfter(wait);
    }
    if (IsIndexed(job_)) {
      CreateIndexes(missing);
    } else {
      plan_.create.resize(missing);
    }
  }

  void RemoveExcess(size_t want) {
    std::vector<PodPtr> useful;
    if (IsIndexed(job_)) {
      // Duplicate Pods for an index, and Pods for completed or failed indexes, are removed.
      std::set<int32_t> seen;
      for (const PodPtr& pod : active_) {
        const int32_t index = CompletionIndexOf(*pod);
        const bool wanted = index >= 0 && index < job_.spec.completions.value_or(0) &&
                            !tally_.succeeded_indexes.Has(index) &&
                            !tally_.failed_indexes.Has(index) && seen.insert(index).second;
        (wanted ? useful : plan_.remove).push_back(pod);
      }
    } else {
      useful = active_;
    }
    if (useful.size() > want) {
      for (PodPtr& pod : pods::PodsToDelete(useful, useful, useful.size() - want, now_)) {
        plan_.remove.push_back(std::move(pod));
      }
    }
    if (plan_.remove.size() > kMaxPodsPerSync) plan_.remove.resize(kMaxPodsPerSync);
  }

  void CreateIndexes(size_t missing) {
    std::set<int32_t> taken;
    for (const PodPtr& pod : pods_) {
      const bool waits = ReplacesOnlyFailed(job_) && pods::IsTerminating(*pod);
      if (pods::IsActive(*pod) || waits) taken.insert(CompletionIndexOf(*pod));
    }
    for (int32_t index = 0; index < *job_.spec.completions && missing > 0; ++index) {
      if (taken.contains(index) || tally_.succeeded_indexes.Has(index) ||
          tally_.failed_indexes.Has(index)) {
        continue;
      }
      NewPod wanted{.index = index};
      if (!MayCreate(wanted)) continue;
      plan_.create.push_back(wanted);
      --missing;
    }
  }

  // Copies the index's failure counts to the new Pod. Returns false while the backoff lasts.
  bool MayCreate(NewPod& wanted) {
    const auto before = tally_.awaiting_successor.find(wanted.index);
    if (before == tally_.awaiting_successor.end()) return true;
    const core::v1::Pod& last = *before->second;
    const Clock::Duration wait = IndexBackoffLeft(last, now_);
    if (wait > Clock::Duration()) {
      RequeueAfter(wait);
      return false;
    }
    const bool ignored = EvaluateFailure(job_, last).action == FailureResult::Action::kIgnore;
    wanted.failures = IndexFailuresOf(last) + (ignored ? 0 : 1);
    wanted.ignored_failures = IndexIgnoredFailuresOf(last) + (ignored ? 1 : 0);
    return true;
  }

  void RequeueAfter(Clock::Duration after) {
    if (!plan_.requeue_after.has_value() || after < *plan_.requeue_after)
      plan_.requeue_after = after;
  }
  void RequeueAtDeadline() {
    if (const auto left = DeadlineLeft(WithStatus(), now_)) {
      RequeueAfter(std::max(Clock::Duration(left->nanos), Clock::Duration(1)));
    }
  }

  void Numbers() {
    const auto removed = static_cast<int32_t>(plan_.remove.size());
    const auto made = static_cast<int32_t>(plan_.create.size());
    int32_t ready = ready_;
    for (const PodPtr& pod : plan_.remove) ready -= pods::IsReady(*pod) ? 1 : 0;
    plan_.status.active = static_cast<int32_t>(active_.size()) - removed + made;
    plan_.status.terminating = terminating_ + removed;
    plan_.status.ready = ready;
  }

  const Job& job_;
  const std::vector<PodPtr>& pods_;
  const Time now_;
  std::optional<Outcome> decided_;
  const Tally tally_;
  std::vector<PodPtr> active_;
  int32_t terminating_ = 0;
  int32_t ready_ = 0;
  JobPlan plan_;
};

}  // namespace

JobPlan Decide(const Job& job, const std::vector<PodPtr>& pods, const Time& now) {
  if (!IsFinished(job)) return Deciding(job, pods, now).Run();
  // Only finalizers remain to be removed.
  JobPlan plan;
  plan.status = job.status;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(plan.release),
               [](const PodPtr& pod) { return IsTracked(*pod); });
  return plan;
}

}  // namespace cox::controllers
