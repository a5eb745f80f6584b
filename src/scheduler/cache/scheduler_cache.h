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

// The nodes with their Pods: those that the API server reports as bound, and those that were
// scheduled but are not yet reported ("assumed"), so that the next cycle includes them.
//
//   Assume ──▶ FinishBinding ──▶ SetPod (the informer has seen it: no longer assumed)
//      └──▶ Forget (binding failed)   └──▶ expires, if nothing was seen for `expiry`
//
// Guarantees: informer data overrides assumed data. The cost of a snapshot update is proportional
//   to the number of changed nodes.
// Threads: all methods may be called concurrently, except UpdateSnapshot: one thread per snapshot.
class SchedulerCache {
 public:
  // 0: assumed Pods never expire.
  explicit SchedulerCache(Clock& clock, Clock::Duration expiry = {})
      : clock_(clock), expiry_(expiry) {}

  // Returns false and does nothing if the cache contains the Pod already.
  bool Assume(const PodInfo& pod, const std::string& node);
  void FinishBinding(const std::string& uid);
  void Forget(const std::string& uid);  // no effect if the Pod is not assumed
  bool IsAssumed(const std::string& uid) const;

  // Informer events: a Pod with a nodeName was added or changed; a Pod was removed. Both return the
  // previous usage of the Pod, assumed or not; null if there was none.
  PodUsagePtr SetPod(const PodInfo& pod);
  PodUsagePtr RemovePod(const std::string& uid);

  void SetNode(std::shared_ptr<const core::v1::Node> node);
  void RemoveNode(const std::string& name);

  // Removes expired assumed Pods and returns their number.
  size_t DropExpired();

  // Updates `snapshot`; must always be the same one.
  void UpdateSnapshot(Snapshot& snapshot);

  struct Sizes {
    size_t nodes = 0;
    size_t pods = 0;
    size_t assumed = 0;
  };
  Sizes sizes() const;

 private:
  struct PodState {
    PodUsagePtr usage;
    NodeIndex node = 0;
    bool assumed = false;
    Clock::SteadyTime expires = Clock::kNever;
  };

  NodeIndex IndexOf(const std::string& node) COX_REQUIRES(mu_);
  void Place(const PodState& pod) COX_REQUIRES(mu_);
  void Displace(const PodState& pod) COX_REQUIRES(mu_);
  // Frees the index of a node without an object and without Pods.
  void FreeIfUnused(NodeIndex index) COX_REQUIRES(mu_);
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
  // Nodes that changed since the last snapshot update; each node once.
  std::vector<NodeIndex> dirty_ COX_GUARDED_BY(mu_);
  std::vector<bool> is_dirty_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::scheduler
