// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/framework/cluster_event.h"

namespace cox::scheduler {

// The Pods that were popped and are not done, with the events since then: an event between the pop
// and the rejection of a Pod may make it schedulable and must not be lost.
//
// Threads: used by the queue, under its lock.
class InFlight {
 public:
  void Begin(PodInfoPtr pod);
  void End(const std::string& uid);
  // Returns the Pod as it was popped or last updated; null if it is not in flight.
  PodInfoPtr Find(const std::string& uid) const;
  void Update(PodInfoPtr pod);

  // Events are stored only while Pods are in flight.
  void Record(const ClusterEvent& event);
  // Returns the events since the Pod was popped.
  std::vector<const ClusterEvent*> Since(const std::string& uid) const;

  size_t size() const { return pods_.size(); }
  size_t events() const { return events_.size(); }

 private:
  struct Flight {
    PodInfoPtr pod;
    uint64_t begun = 0;  // number of the first event after its pop
  };
  std::unordered_map<std::string, Flight> pods_;  // by uid
  std::multiset<uint64_t> begun_;
  uint64_t first_ = 0;  // the number of events_.front()
  std::deque<ClusterEvent> events_;
};

}  // namespace cox::scheduler
