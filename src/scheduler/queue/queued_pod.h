// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "scheduler/cache/pod_info.h"

namespace cox::scheduler {

// A Pod in the scheduling queue with the history of its attempts. The queue owns it; after Pop, the
// caller owns it until it is requeued or done.
struct QueuedPod {
  PodInfoPtr pod;
  Clock::SteadyTime since{};  // time of its last insertion into the queue
  std::optional<Clock::SteadyTime> first_attempt;
  int attempts = 0;
  int rejections = 0;  // attempts without a feasible node, for the backoff
  int errors = 0;      // consecutive errors, for the backoff
  // Plugins that rejected it in the last attempt. Empty after an error.
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;

  // Internal state of the queue.
  enum class Place : uint8_t { kNone, kActive, kBackoff, kErrorBackoff, kUnschedulable, kGated };
  Place place = Place::kNone;
  Clock::SteadyTime backoff_until{};
  uint64_t number = 0;  // insertion number, for a total order
};
using QueuedPodPtr = std::shared_ptr<QueuedPod>;

}  // namespace cox::scheduler
