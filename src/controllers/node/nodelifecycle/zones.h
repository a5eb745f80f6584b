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
  kPartialDisruption,  // so many nodes are not ready that the cause may be common
  kFullDisruption,     // none is ready
};
ZoneState StateOf(size_t ready, size_t not_ready, const NodeLifecycleOptions& options);
// Nodes a second that may get the taint that evicts. `all_down`: every zone is fully disrupted.
double EvictionRate(ZoneState state, size_t nodes, bool all_down,
                    const NodeLifecycleOptions& options);

// Region and zone of a node, as one text.
std::string ZoneKeyOf(const core::v1::Node& node);

// Who is ready where, and from how many nodes Pods may be evicted now.
//
// Threads: all methods may be called concurrently.
class Zones {
 public:
  Zones(const Clock& clock, const NodeLifecycleOptions& options)
      : clock_(clock), options_(options) {}

  struct Change {
    bool state = false;      // of some zone: nodes that wait for their turn should ask again
    bool came_back = false;  // all was down, and is no more
  };
  Change Note(const std::string& node, const std::string& zone, bool ready);
  Change Forget(const std::string& node);

  // Every zone is down: then nothing is evicted, for it is more likely that we are cut off.
  bool AllDown() const;
  // Takes a turn to evict from a node of that zone: zero, or how long to wait before asking again.
  // None: not before a zone changes.
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
  Change Judge() COX_REQUIRES(mu_);

  const Clock& clock_;
  const NodeLifecycleOptions options_;
  mutable Mutex mu_;
  std::map<std::string, Zone> zones_ COX_GUARDED_BY(mu_);
  std::unordered_map<std::string, Member> nodes_ COX_GUARDED_BY(mu_);
  bool all_down_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::controllers
