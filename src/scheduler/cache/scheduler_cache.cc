// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/scheduler_cache.h"

#include <utility>

namespace cox::scheduler {

bool SchedulerCache::Assume(const PodInfo& pod, const std::string& node) {
  auto usage = std::make_shared<const PodUsage>(pod);
  MutexLock lock(mu_);
  const auto [at, added] = pods_.try_emplace(pod.uid());
  if (!added) return false;
  at->second = {.usage = std::move(usage), .node = IndexOf(node), .assumed = true};
  ++assumed_;
  Place(at->second);
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
  Displace(found->second);
  pods_.erase(found);
  --assumed_;
}

bool SchedulerCache::IsAssumed(const std::string& uid) const {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  return found != pods_.end() && found->second.assumed;
}

PodUsagePtr SchedulerCache::SetPod(const PodInfo& pod) {
  auto usage = std::make_shared<const PodUsage>(pod);
  MutexLock lock(mu_);
  const auto [at, added] = pods_.try_emplace(pod.uid());
  PodState& state = at->second;
  if (!added && nodes_[state.node].name == pod.pod->spec.nodeName && *state.usage == *usage) {
    // Most updates change only the status.
    usage = state.usage;
  } else {
    if (!added) Displace(state);
    state.node = IndexOf(pod.pod->spec.nodeName);
    std::swap(state.usage, usage);
    Place(state);
  }
  if (state.assumed) --assumed_;
  state.assumed = false;
  state.expires = Clock::kNever;
  return usage;
}

PodUsagePtr SchedulerCache::RemovePod(const std::string& uid) {
  MutexLock lock(mu_);
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return nullptr;
  if (found->second.assumed) --assumed_;
  Displace(found->second);
  PodUsagePtr was = std::move(found->second.usage);
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
  FreeIfUnused(index);
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
    Displace(at->second);
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
  nodes_[at->second].name = node;
  return at->second;
}

void SchedulerCache::Place(const PodState& pod) {
  nodes_[pod.node].AddPod(pod.usage);
  Changed(pod.node);
}

void SchedulerCache::Displace(const PodState& pod) {
  nodes_[pod.node].RemovePod(pod.usage);
  Changed(pod.node);
  FreeIfUnused(pod.node);
}

void SchedulerCache::FreeIfUnused(NodeIndex index) {
  const NodeInfo& info = nodes_[index];
  if (info.node != nullptr || !info.pods.empty()) return;
  free_.push_back(index);
  by_name_.erase(info.name);
}

void SchedulerCache::Changed(NodeIndex index) {
  nodes_[index].generation = ++generation_;
  if (is_dirty_[index]) return;
  is_dirty_[index] = true;
  dirty_.push_back(index);
}

}  // namespace cox::scheduler
