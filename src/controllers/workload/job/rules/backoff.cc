// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/job/rules/backoff.h"

#include <algorithm>
#include <chrono>

#include "controllers/workload/job/pods/job_pod.h"

namespace cox::controllers {
namespace {

constexpr Clock::Duration kFirstDelay = std::chrono::seconds(10);
constexpr Clock::Duration kLongestDelay = std::chrono::minutes(10);

Clock::Duration Left(const Time& failed, Clock::Duration delay, const Time& now) {
  const Clock::Duration passed{(now - failed).nanos};
  return passed >= delay ? Clock::Duration() : delay - passed;
}

}  // namespace

Clock::Duration FailureDelay(int32_t failures) {
  if (failures <= 0) return {};
  // 10 s * 2^6 exceeds the maximum.
  return std::min(kLongestDelay, kFirstDelay * (1 << std::min(failures - 1, 6)));
}

Clock::Duration BackoffLeft(const batch::v1::Job& job, const std::vector<pods::PodPtr>& pods,
                            const Time& now) {
  Time last_success;
  for (const pods::PodPtr& pod : pods) {
    if (HasSucceeded(*pod)) last_success = std::max(last_success, FinishTime(*pod));
  }
  int32_t failures = 0;
  Time last_failure;
  for (const pods::PodPtr& pod : pods) {
    if (HasSucceeded(*pod) || !HasFailed(*pod, job)) continue;
    // Deleted by the controller because parallelism was reduced: its finalizer was removed first.
    if (!pods::IsTerminal(*pod) && !IsTracked(*pod)) continue;
    const Time at = FinishTime(*pod);
    if (at < last_success) continue;
    ++failures;
    last_failure = std::max(last_failure, at);
  }
  return Left(last_failure, FailureDelay(failures), now);
}

Clock::Duration IndexBackoffLeft(const core::v1::Pod& last, const Time& now) {
  const int32_t failures = IndexFailuresOf(last) + IndexIgnoredFailuresOf(last) + 1;
  return Left(FinishTime(last), FailureDelay(failures), now);
}

}  // namespace cox::controllers
