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
#include "controllers/node/nodelifecycle/overload.h"

namespace cox::controllers {

// The last heartbeat of each node: a renewed Lease or a posted status.
//
// Heartbeats are timed with this process' clock, because the clocks of nodes may be wrong. For a
// node that is new here, the first observation counts as a heartbeat; for one that never posted a
// status, its creation.
//
// Threads: all methods may be called concurrently.
class Heartbeats {
 public:
  // A heartbeat is late if it comes more than half of `grace` after the one before it, and more
  // than half of the time for which the node's Lease is valid: the node renews it after a quarter
  // of that time, which can be more than half of a short grace period.
  Heartbeats(const Clock& clock, Clock::Duration grace) : clock_(clock), gaps_(grace / 2) {}

  void LeaseSeen(const coordination::v1::Lease& lease);
  void LeaseGone(const std::string& name);
  // Records the node's status and returns the time of its last heartbeat.
  Clock::SteadyTime Observe(const core::v1::Node& node);
  // Returns true if the node was known.
  bool Forget(const std::string& node);
  bool Knows(const std::string& node) const;
  // Resets all heartbeats to now, after an outage that affected all nodes.
  void Excuse();
  // Counts the heartbeats of all nodes during the last half of the grace period.
  HeartbeatGaps::Recent Recent();

 private:
  struct RecordHeartbeat {
    Instant said;  // the timestamp in the object; a different one is a heartbeat
    Clock::SteadyTime at{};
    Clock::Duration valid{};  // of a Lease
  };
  void NoteGap(const std::string& node, Clock::SteadyTime now) COX_REQUIRES(mu_);

  const Clock& clock_;
  mutable Mutex mu_;
  HeartbeatGaps gaps_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, RecordHeartbeat> status_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, RecordHeartbeat> leases_ COX_GUARDED_BY(mu_);
};

// Returns the node's conditions with those that the kubelet reports set to Unknown; nullopt if they
// already are. Pure.
std::optional<List<core::v1::NodeCondition>> UnknownConditions(const core::v1::Node& node,
                                                               const Time& now);

}  // namespace cox::controllers
