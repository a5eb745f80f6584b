// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_state.h"

#include <algorithm>

#include "coxswain/conditions.h"

namespace cox::controllers::pods {

using core::v1::Pod;

Time PreciseNow(const Clock& clock) {
  const auto since = std::chrono::nanoseconds(clock.Now().time_since_epoch());
  return Time::FromUnixNanos(since.count());
}

bool IsActive(const Pod& pod) { return !IsTerminal(pod) && !pod.metadata.deletionTimestamp; }

bool IsTerminating(const Pod& pod) {
  return !IsTerminal(pod) && pod.metadata.deletionTimestamp.has_value();
}

std::optional<Time> ReadySince(const Pod& pod) {
  const auto* ready = FindCondition(pod.status.conditions, core::v1::kPodReady);
  if (ready == nullptr || ready->status != core::v1::kConditionTrue) return {};
  return ready->lastTransitionTime;
}

bool IsAvailable(const Pod& pod, int32_t min_ready_seconds, const Time& now) {
  const std::optional<Time> since = ReadySince(pod);
  if (!since) return false;
  if (min_ready_seconds == 0) return true;
  return !since->IsZero() && *since + Duration::Seconds(min_ready_seconds) <= now;
}

std::optional<Clock::Duration> AvailableIn(const Pod& pod, int32_t min_ready_seconds,
                                           const Time& now) {
  const std::optional<Time> since = ReadySince(pod);
  if (!since || since->IsZero() || IsAvailable(pod, min_ready_seconds, now)) return {};
  return std::chrono::nanoseconds((*since + Duration::Seconds(min_ready_seconds) - now).nanos);
}

std::optional<Clock::Duration> NextAvailableIn(const std::vector<PodPtr>& pods,
                                               int32_t min_ready_seconds, const Time& now) {
  std::optional<Clock::Duration> next;
  if (min_ready_seconds == 0) return next;
  for (const PodPtr& pod : pods) {
    const auto in = AvailableIn(*pod, min_ready_seconds, now);
    if (in) next = next ? std::min(*next, *in) : *in;
  }
  return next;
}

}  // namespace cox::controllers::pods
