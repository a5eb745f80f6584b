// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "scheduler/cache/pod_info.h"

namespace cox::scheduler {

// A Pod that waits for a node, and the story of its attempts. Of the queue while it waits, of the
// one who popped it until he gives it back or is done with it.
struct QueuedPod {
  PodInfoPtr pod;
  Clock::SteadyTime since{};  // when it came (back) to the queue
  std::optional<Clock::SteadyTime> first_attempt;
  int attempts = 0;
  int refusals = 0;  // that made it unschedulable, for the backoff
  int errors = 0;    // one after another, for the backoff
  // Who refused it at the last attempt. None after an error.
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;

  // The queue's own.
  enum class Place : uint8_t { kNone, kActive, kBackoff, kErrorBackoff, kUnschedulable, kGated };
  Place place = Place::kNone;
  Clock::SteadyTime backoff_until{};
  uint64_t number = 0;  // of arrival: a total order
};
using QueuedPodPtr = std::shared_ptr<QueuedPod>;

}  // namespace cox::scheduler
