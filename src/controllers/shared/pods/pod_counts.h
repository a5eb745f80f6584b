// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/core/v1.h"
#include "base/clock.h"
#include "object/scalar/time.h"
#include "object/selector/labels.h"

namespace cox::controllers::pods {

// The Pods of one owner, counted by state.
//
// Guarantees: the result is that of counting all Pods that were added and not removed.
// Costs: Add and Remove take the logarithm of the number of Pods. Available visits the seconds in
//   which Pods became ready, not the Pods, and of those only the last min_ready_seconds.
// Threads: one at a time.
class PodCounts {
 public:
  // The selector of the owner, and the labels of its Pod template.
  PodCounts(labels::Selector selector, Map<std::string> labels)
      : selector_(std::move(selector)), labels_(std::move(labels)) {}

  void Add(const core::v1::Pod& pod) { Count(pod, true); }
  // REQUIRES: this version of the Pod was added.
  void Remove(const core::v1::Pod& pod) { Count(pod, false); }

  size_t active() const { return active_; }
  size_t terminating() const { return terminating_; }  // not active
  size_t ready() const { return ready_; }              // active and ready
  size_t labeled() const { return labeled_; }          // active, with the labels of the template
  // Ready for `min_ready_seconds`.
  size_t Available(int32_t min_ready_seconds, const Time& now) const;
  // The time until the next ready Pod is available.
  std::optional<Clock::Duration> NextAvailableIn(int32_t min_ready_seconds, const Time& now) const;
  // The names of active Pods that the selector does not match.
  const std::set<std::string>& unselected() const { return unselected_; }

 private:
  void Count(const core::v1::Pod& pod, bool add);

  labels::Selector selector_;
  Map<std::string> labels_;
  size_t active_ = 0;
  size_t terminating_ = 0;
  size_t ready_ = 0;
  size_t labeled_ = 0;
  // The number of ready Pods by the time of the transition, which has a resolution of one second.
  // Pods without a time are ready, but never available after a delay, and are not contained.
  std::map<Time, size_t> ready_since_;
  size_t timed_ = 0;  // the sum of ready_since_
  std::set<std::string> unselected_;
};

}  // namespace cox::controllers::pods
