// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/scheduler_cache.h"

#include <utility>

namespace cox::scheduler {
namespace {

// Returns whether replacing one Pod by the other leaves the node's snapshot data unchanged.
bool TakesTheSame(const PodInfo& a, const PodInfo& b) {
  return a.requests == b.requests && a.score_milli_cpu == b.score_milli_cpu &&
         a.score_memory == b.score_memory && a.ports == b.ports && a.priority == b.priority;
}

}  // namespace

bool SchedulerCache::Assume(PodInfoPtr pod, const std::string& node) {
  MutexLock lock(mu_);
  const auto [at, added] = pods_.try_emplace(pod->uid(), PodState{pod, node, true});
  if (!added) return false;
  ++assumed_;
  Place(pod, node);
  return true;
}

void SchedulerCache::FinishBinding(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end() || !found->second.assumed || expiry_ == Clock::Duration::zero()) return;
  found->second.expires = clock_.In(expiry_);
}

void SchedulerCache::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end() || !found->second.assumed) return;
  Displace(uid, found->second.node);
  pods_.erase(found);
  --assumed_;
}

bool SchedulerCache::IsAssumed(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  return found != pods_.end() && found->second.assumed;
}

PodInfoPtr SchedulerCache::SetPod(PodInfoPtr pod) {
  MutexLock lock(mu_);
  const std::string& node = pod->pod->spec.nodeName;
  const auto [at, added] = pods_.try_emplace(pod->uid(), PodState{pod, node});
  if (added) {
    Place(pod, node);
    return nullptr;
  }
  PodState& state = at->second;
  if (state.assumed) --assumed_;
  state.assumed = false;
  state.expires = Clock::kNever;
  if (state.node == node && TakesTheSame(*state.pod, *pod)) {
    // No snapshot data has changed: most updates change only the status.
    for (PodInfoPtr& placed : nodes_[IndexOf(node)].pods) {
      if (placed == state.pod) placed = pod;
    }
  } else {
    Displace(pod->uid(), state.node);
    Place(pod, node);
    state.node = node;
  }
  return std::exchange(state.pod, std::move(pod));
}

PodInfoPtr SchedulerCache::RemovePod(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return nullptr;
  if (found->second.assumed) --assumed_;
  Displace(uid, found->second.node);
  PodInfoPtr was = std::move(found->second.pod);
  pods_.erase(found);
  return was;
}

void SchedulerCache::SetNode(std::shared_ptr<const core::v1::Node> node) {
  MutexLock lock(mu_);
  const NodeIndex index = IndexOf(node->metadata.name);
  nodes_[index].SetNode(std::move(node));
  Changed(index);
}

void SchedulerCache::RemoveNode(const std::string& name) {
  MutexLock lock(mu_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  const NodeIndex index = found->second;
  nodes_[index].SetNode(nullptr);
  Changed(index);
  if (nodes_[index].pods.empty()) {
    free_.push_back(index);
    by_name_.erase(found);
  }
}

size_t SchedulerCache::DropExpired() {
  MutexLock lock(mu_);
  const Clock::SteadyTime now = clock_.Monotonic();
  size_t dropped = 0;
  for (auto at = pods_.begin(); at != pods_.end();) {
    if (!at->second.assumed || at->second.expires > now) {
      ++at;
      continue;
    }
    Displace(at->first, at->second.node);
    at = pods_.erase(at);
    --assumed_;
    ++dropped;
  }
  return dropped;
}

void SchedulerCache::UpdateSnapshot(Snapshot& snapshot) {
  MutexLock lock(mu_);
  for (const NodeIndex index : dirty_) {
    snapshot.Set(index, nodes_[index]);
    is_dirty_[index] = false;
  }
  dirty_.clear();
  snapshot.Finish();
}

SchedulerCache::Sizes SchedulerCache::sizes() const {
  MutexLock lock(mu_);
  size_t nodes = 0;
  for (const auto& [name, index] : by_name_) nodes += nodes_[index].node != nullptr ? 1 : 0;
  return {.nodes = nodes, .pods = pods_.size(), .assumed = assumed_};
}

NodeIndex SchedulerCache::IndexOf(const std::string& node) {
  const auto [at, added] = by_name_.try_emplace(node, 0);
  if (!added) return at->second;
  if (free_.empty()) {
    at->second = static_cast<NodeIndex>(nodes_.size());
    nodes_.emplace_back();
    is_dirty_.push_back(false);
  } else {
    at->second = free_.back();
    free_.pop_back();
    nodes_[at->second] = NodeInfo();
  }
  return at->second;
}

void SchedulerCache::Place(const PodInfoPtr& pod, const std::string& node) {
  const NodeIndex index = IndexOf(node);
  nodes_[index].AddPod(pod);
  Changed(index);
}

void SchedulerCache::Displace(const std::string& uid, const std::string& node) {
  const NodeIndex index = IndexOf(node);
  nodes_[index].RemovePod(uid);
  Changed(index);
  if (nodes_[index].node == nullptr && nodes_[index].pods.empty()) {
    free_.push_back(index);
    by_name_.erase(node);
  }
}

void SchedulerCache::Changed(NodeIndex index) {
  nodes_[index].generation = ++generation_;
  if (is_dirty_[index]) return;
  is_dirty_[index] = true;
  dirty_.push_back(index);
}

}  // namespace cox::scheduler
