// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/outcome.h"

#include "controllers/workload/job/pods/job_pod.h"
#include "controllers/workload/job/rules/policies.h"
#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

using batch::v1::Job;
using batch::v1::JobCondition;
using pods::PodPtr;

// Container restarts count as failures too, although their Pod keeps running.
bool PastRestartLimit(const Job& job, const std::vector<PodPtr>& pods) {
  if (job.spec.template_.spec.restartPolicy != core::v1::kRestartPolicyOnFailure) return false;
  int32_t restarts = 0;
  for (const PodPtr& pod : pods) {
    if (pods::IsTerminal(*pod)) continue;
    for (const auto& status : pod->status.initContainerStatuses) restarts += status.restartCount;
    for (const auto& status : pod->status.containerStatuses) restarts += status.restartCount;
  }
  const int32_t limit = job.spec.backoffLimit.value_or(6);
  return limit == 0 ? restarts > 0 : restarts >= limit;
}

std::optional<Outcome> EvaluateIndexes(const Job& job, const Tally& tally) {
  if (!HasBackoffLimitPerIndex(job) || tally.failed_indexes.count() == 0) return std::nullopt;
  if (job.spec.maxFailedIndexes.has_value() &&
      tally.failed_indexes.count() > *job.spec.maxFailedIndexes) {
    return Outcome{false, "MaxFailedIndexesExceeded",
                   "Job has exceeded the specified maximal number of failed indexes"};
  }
  const int32_t ended = tally.failed_indexes.count() + tally.succeeded_indexes.count();
  if (ended >= job.spec.completions.value_or(0)) {
    return Outcome{false, "FailedIndexes", "Job has failed indexes"};
  }
  return std::nullopt;
}

bool ReachedCompletions(const Job& job, const Tally& tally, int32_t active) {
  if (active > 0) return false;
  // Without completions, one success is sufficient when all other Pods have ended.
  return job.spec.completions.has_value() ? tally.succeeded >= *job.spec.completions
                                          : tally.succeeded > 0;
}

}  // namespace

bool IsFinished(const Job& job) {
  return IsTrue(job.status.conditions, batch::v1::kJobComplete) ||
         IsTrue(job.status.conditions, batch::v1::kJobFailed);
}

std::optional<Outcome> DecidedOutcome(const Job& job) {
  for (const bool success : {false, true}) {
    const char* type = success ? batch::v1::kJobSuccessCriteriaMet : batch::v1::kJobFailureTarget;
    const JobCondition* condition = FindCondition(job.status.conditions, type);
    if (condition != nullptr && condition->status == core::v1::kConditionTrue) {
      return Outcome{success, condition->reason, condition->message};
    }
  }
  return std::nullopt;
}

std::optional<Outcome> EvaluateJob(const Job& job, const std::vector<PodPtr>& pods,
                                   const Tally& tally, int32_t active, const Time& now) {
  if (tally.fail_job.has_value()) return Outcome{false, "PodFailurePolicy", *tally.fail_job};
  if (tally.failed > job.spec.backoffLimit.value_or(6) || PastRestartLimit(job, pods)) {
    return Outcome{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const std::optional<Duration> left = DeadlineLeft(job, now);
  if (left.has_value() && left->nanos <= 0) {
    return Outcome{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
  if (auto outcome = EvaluateIndexes(job, tally)) return outcome;
  if (auto message = MatchSuccessPolicy(job, tally.succeeded_indexes)) {
    return Outcome{true, "SuccessPolicy", *std::move(message)};
  }
  if (ReachedCompletions(job, tally, active)) {
    return Outcome{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  }
  return std::nullopt;
}

std::optional<Duration> DeadlineLeft(const Job& job, const Time& now) {
  if (!job.spec.activeDeadlineSeconds.has_value() || !job.status.startTime.has_value() ||
      IsSuspended(job)) {
    return std::nullopt;
  }
  const Time end = *job.status.startTime + Duration::Seconds(*job.spec.activeDeadlineSeconds);
  return end - now;
}

}  // namespace cox::controllers
