// SPDX-License-Identifier: Apache-2.0
#include "kubelet/actions/backoff.h"

#include <algorithm>

namespace cox::kubelet {

Clock::Duration Backoff::Remaining(std::string_view key, Clock::WallTime failed,
                                   Clock::WallTime now) const {
  const auto found = entries_.find(key);
  if (found == entries_.end() || Expired(found->second, failed)) return {};
  // If the clock was set back, the wait is still at most the delay.
  const Clock::Duration passed = std::max<Clock::Duration>(now - failed, {});
  return std::max<Clock::Duration>(found->second.delay - passed, {});
}

Clock::Duration Backoff::Delay(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? Clock::Duration() : found->second.delay;
}

void Backoff::Began(std::string_view key, Clock::WallTime failed, Clock::WallTime now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    entries_.emplace(key, Entry{limits_.initial, now});
    return;
  }
  Entry& entry = found->second;
  entry.delay = Expired(entry, failed) ? limits_.initial : std::min(entry.delay * 2, limits_.max);
  entry.began = now;
}

void Backoff::Forget(std::string_view key) {
  if (const auto found = entries_.find(key); found != entries_.end()) entries_.erase(found);
}

}  // namespace cox::kubelet
