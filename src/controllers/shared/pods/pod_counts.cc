// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pod_counts.h"

#include <algorithm>
#include <chrono>

#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers::pods {
namespace {

bool HasLabels(const Map<std::string>& labels, const Map<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
    const std::string* value = labels.Get(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

}  // namespace

void PodCounts::Count(const core::v1::Pod& pod, bool add) {
  const size_t by = add ? 1 : size_t(-1);
  if (IsTerminating(pod)) terminating_ += by;
  if (!IsActive(pod)) return;
  active_ += by;
  if (HasLabels(pod.metadata.labels, labels_)) labeled_ += by;
  if (!selector_.Matches(pod.metadata.labels)) {
    if (add) {
      unselected_.insert(pod.metadata.name);
    } else {
      unselected_.erase(pod.metadata.name);
    }
  }
  const std::optional<Time> since = ReadySince(pod);
  if (!since) return;
  ready_ += by;
  if (since->IsZero()) return;
  timed_ += by;
  const auto second = ready_since_.try_emplace(*since, 0).first;
  second->second += by;
  if (second->second == 0) ready_since_.erase(second);
}

size_t PodCounts::Available(int32_t min_ready_seconds, const Time& now) const {
  if (min_ready_seconds == 0) return ready_;
  size_t waiting = 0;
  const Duration delay = Duration::Seconds(min_ready_seconds);
  for (auto at = ready_since_.rbegin(); at != ready_since_.rend() && at->first + delay > now;
       ++at) {
    waiting += at->second;
  }
  return timed_ - waiting;
}

std::optional<Clock::Duration> PodCounts::NextAvailableIn(int32_t min_ready_seconds,
                                                          const Time& now) const {
  std::optional<Clock::Duration> next;
  if (min_ready_seconds == 0) return next;
  const Duration delay = Duration::Seconds(min_ready_seconds);
  for (auto at = ready_since_.rbegin(); at != ready_since_.rend() && at->first + delay > now;
       ++at) {
    next = std::chrono::nanoseconds((at->first + delay - now).nanos);
  }
  return next;
}

}  // namespace cox::controllers::pods
