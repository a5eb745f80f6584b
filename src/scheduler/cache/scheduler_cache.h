// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "scheduler/cache/node_info.h"
#include "scheduler/cache/snapshot.h"

namespace cox::scheduler {

// What runs where: the nodes, the Pods the API server says are on them, and those that were just
// given to one and are not known to be there yet ("assumed"), so that the next cycle counts them.
//
//   Assume ──▶ FinishBinding ──▶ AddPod (the informer has seen it: no longer assumed)
//      └──▶ Forget (binding failed)   └──▶ expires, if nothing was seen for `expiry`
//
// Guarantees: what the informer says wins over what was assumed. A snapshot is brought up to date
//   in time proportional to the nodes that changed.
// Threads: all methods may be called concurrently, but for UpdateSnapshot: one snapshot, one
//   thread.
class SchedulerCache {
 public:
  // 0: assumed Pods never expire.
  explicit SchedulerCache(Clock& clock, Clock::Duration expiry = {})
      : clock_(clock), expiry_(expiry) {}

  // False, and nothing done, if the Pod is here already.
  bool Assume(PodInfoPtr pod, const std::string& node);
  void FinishBinding(const std::string& uid);
  void Forget(const std::string& uid);  // nothing if it is not assumed (any more)
  bool IsAssumed(const std::string& uid) const;

  // As the informer says it: a Pod with a nodeName, new or changed. Both give what was there
  // before, assumed or not; null if nothing was.
  PodInfoPtr SetPod(PodInfoPtr pod);
  PodInfoPtr RemovePod(const std::string& uid);

  void SetNode(std::shared_ptr<const core::v1::Node> node);
  void RemoveNode(const std::string& name);

  // Forgets assumed Pods whose time is over; how many.
  size_t DropExpired();

  // Brings `snapshot` up to date; always the same one.
  void UpdateSnapshot(Snapshot& snapshot);

  struct Sizes {
    size_t nodes = 0;
    size_t pods = 0;
    size_t assumed = 0;
  };
  Sizes sizes() const;

 private:
  struct PodState {
    PodInfoPtr pod;
    std::string node;
    bool assumed = false;
    Clock::SteadyTime expires = Clock::kNever;
  };

  NodeIndex IndexOf(const std::string& node) COX_REQUIRES(mu_);
  void Place(const PodInfoPtr& pod, const std::string& node) COX_REQUIRES(mu_);
  void Displace(const std::string& uid, const std::string& node) COX_REQUIRES(mu_);
  void Changed(NodeIndex index) COX_REQUIRES(mu_);

  Clock& clock_;
  const Clock::Duration expiry_;
  mutable Mutex mu_;
  uint64_t generation_ COX_GUARDED_BY(mu_) = 0;
  std::unordered_map<std::string, PodState> pods_ COX_GUARDED_BY(mu_);  // by uid
  size_t assumed_ COX_GUARDED_BY(mu_) = 0;
  std::vector<NodeInfo> nodes_ COX_GUARDED_BY(mu_);  // by index
  std::unordered_map<std::string, NodeIndex> by_name_ COX_GUARDED_BY(mu_);
  std::vector<NodeIndex> free_ COX_GUARDED_BY(mu_);  // indexes without a node
  // What the snapshot does not know yet; each node once.
  std::vector<NodeIndex> dirty_ COX_GUARDED_BY(mu_);
  std::vector<bool> is_dirty_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::scheduler
