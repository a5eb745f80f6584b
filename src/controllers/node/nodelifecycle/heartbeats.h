// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace cox::controllers {

// When each node was last heard of: a renewed Lease, or a status that it posted.
//
// By this process' clock, not by the times in the objects: those are of the nodes' clocks, which
// may be wrong. A node that was not known before counts as heard of now; one that never posted a
// status, at its creation.
// Threads: all methods may be called concurrently.
class Heartbeats {
 public:
  explicit Heartbeats(const Clock& clock) : clock_(clock) {}

  void LeaseSeen(const coordination::v1::Lease& lease);
  void LeaseGone(const std::string& name);
  // Looks at what the node says, and returns when it was last heard of.
  Clock::SteadyTime Observe(const core::v1::Node& node);
  // True if it was known.
  bool Forget(const std::string& node);
  bool Knows(const std::string& node) const;
  // All count as heard of now: what was missed in a common failure is nobody's fault.
  void Excuse();

 private:
  struct Heard {
    Instant said;  // the time in the object: another one is a sign of life
    Clock::SteadyTime at{};
  };
  const Clock& clock_;
  mutable Mutex mu_;
  std::unordered_map<std::string, Heard> status_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, Heard> leases_ COX_GUARDED_BY(mu_);
};

// The node's conditions with those that the kubelet keeps as Unknown; none if they are already.
// Pure.
std::optional<List<core::v1::NodeCondition>> UnknownConditions(const core::v1::Node& node,
                                                               const Time& now);

}  // namespace cox::controllers
