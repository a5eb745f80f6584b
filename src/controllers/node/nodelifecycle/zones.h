// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/node/nodelifecycle/options.h"

namespace cox::controllers {

enum class ZoneState : uint8_t {
  kNormal,
  kPartialDisruption,  // so many nodes are not ready that a common cause is likely
  kFullDisruption,     // no node is ready
};
ZoneState StateOf(size_t ready, size_t not_ready, const NodeLifecycleOptions& options);
// Nodes per second that may get a NoExecute taint. `all_down`: every zone is fully disrupted.
double EvictionRate(ZoneState state, size_t nodes, bool all_down,
                    const NodeLifecycleOptions& options);

// Region and zone of a node as one string, "region:\0:zone" as in upstream; empty if it has none.
std::string ZoneKeyOf(const core::v1::Node& node);

// Tracks the ready nodes of each zone and limits the rate of evictions.
//
// Threads: all methods may be called concurrently.
class Zones {
 public:
  Zones(const Clock& clock, const NodeLifecycleOptions& options)
      : clock_(clock), options_(options) {}

  struct Change {
    bool state = false;      // some zone's state changed: waiting nodes should be requeued
    bool came_back = false;  // all zones were down, and one is up again
  };
  Change Note(const std::string& node, const std::string& zone, bool ready);
  Change Forget(const std::string& node);

  // All zones are down: there are no evictions, because the control plane is probably partitioned.
  bool AllDown() const;
  // Acquires a permit to evict from a node of that zone. Returns zero, or the time to wait before
  // the next attempt. Returns nullopt if evictions are stopped until a zone changes.
  std::optional<Clock::Duration> TakeTurn(const std::string& zone);
  std::vector<std::string> NotReady() const;

 private:
  struct Zone {
    size_t ready = 0;
    size_t not_ready = 0;
    ZoneState state = ZoneState::kNormal;
    std::optional<Clock::SteadyTime> last_turn;
  };
  struct Member {
    std::string zone;
    bool ready = false;
  };
  void Count(const Member& member, int by) COX_REQUIRES(mu_);
  Change Evaluate() COX_REQUIRES(mu_);

  const Clock& clock_;
  const NodeLifecycleOptions options_;
  mutable Mutex mu_;
  std::map<std::string, Zone> zones_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, Member> nodes_ COX_GUARDED_BY(mu_);
  bool all_down_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::controllers
