// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/heartbeats.h"

#include <algorithm>

#include "coxswain/conditions.h"

namespace cox::controllers {

using core::v1::Node;
using core::v1::NodeCondition;

void Heartbeats::LeaseSeen(const coordination::v1::Lease& lease) {
  const Instant said = lease.spec.renewTime.value_or(MicroTime());
  MutexLock lock(mu_);
  const auto [entry, added] = leases_.try_emplace(lease.metadata.name);
  if (!added && entry->second.said == said) return;
  const Clock::SteadyTime now = clock_.Monotonic();
  if (!added) NoteGap(lease.metadata.name, now);
  entry->second = {said, now, std::chrono::seconds(lease.spec.leaseDurationSeconds.value_or(0))};
}

void Heartbeats::NoteGap(const std::string& node, Clock::SteadyTime now) {
  const auto status = status_.find(node);
  const auto lease = leases_.find(node);
  Clock::SteadyTime last = Clock::SteadyTime::min();
  Clock::Duration limit{};
  if (status != status_.end()) last = std::max(last, status->second.at);
  if (lease != leases_.end()) {
    last = std::max(last, lease->second.at);
    limit = lease->second.valid / 2;
  }
  gaps_.Note(now, now - last, limit);
}

HeartbeatGaps::Recent Heartbeats::Recent() {
  MutexLock lock(mu_);
  return gaps_.Read(clock_.Monotonic());
}

void Heartbeats::LeaseGone(const std::string& name) {
  MutexLock lock(mu_);
  leases_.erase(name);
}

Clock::SteadyTime Heartbeats::Observe(const Node& node) {
  const NodeCondition* ready = FindCondition(node.status.conditions, core::v1::kNodeReady);
  const Instant said = ready == nullptr ? Time() : ready->lastHeartbeatTime;
  const Clock::SteadyTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  const auto [entry, added] = status_.try_emplace(node.metadata.name);
  RecordHeartbeat& heard = entry->second;
  if (added && ready == nullptr) {
    const auto age = clock_.Now().time_since_epoch() -
                     std::chrono::nanoseconds(node.metadata.creationTimestamp.UnixNanos());
    heard = {said, now - std::max(age, std::chrono::nanoseconds(0))};
  } else if (added || heard.said != said) {
    // The first status of a node, or conditions that were set because it never posted one, do not
    // show when it was expected.
    if (!added && !heard.said.IsZero()) NoteGap(node.metadata.name, now);
    heard = {said, now};
  }
  const auto lease = leases_.find(node.metadata.name);
  return lease == leases_.end() ? heard.at : std::max(heard.at, lease->second.at);
}

bool Heartbeats::Forget(const std::string& node) {
  MutexLock lock(mu_);
  return status_.erase(node) > 0;
}

bool Heartbeats::Knows(const std::string& node) const {
  MutexLock lock(mu_);
  return status_.contains(node);
}

void Heartbeats::Excuse() {
  const Clock::SteadyTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  for (auto& [name, heard] : status_) heard.at = now;
}

std::optional<List<NodeCondition>> UnknownConditions(const Node& node, const Time& now) {
  List<NodeCondition> conditions = node.status.conditions;
  bool changed = false;
  for (const char* type : {core::v1::kNodeReady, core::v1::kNodeMemoryPressure,
                           core::v1::kNodeDiskPressure, core::v1::kNodePIDPressure}) {
    NodeCondition* condition = FindCondition(conditions, type);
    if (condition == nullptr) {
      changed = true;
      conditions.push_back({.type = type,
                            .status = core::v1::kConditionUnknown,
                            .lastHeartbeatTime = node.metadata.creationTimestamp,
                            .lastTransitionTime = now,
                            .reason = "NodeStatusNeverUpdated",
                            .message = "Kubelet never posted node status."});
    } else if (condition->status != core::v1::kConditionUnknown) {
      changed = true;
      condition->status = core::v1::kConditionUnknown;
      condition->reason = "NodeStatusUnknown";
      condition->message = "Kubelet stopped posting node status.";
      condition->lastTransitionTime = now;
    }
  }
  if (!changed) return std::nullopt;
  return conditions;
}

}  // namespace cox::controllers
