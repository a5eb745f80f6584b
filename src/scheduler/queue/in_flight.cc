// SPDX-License-Identifier: Apache-2.0
#include "scheduler/queue/in_flight.h"

#include <utility>

namespace cox::scheduler {

void InFlight::Begin(PodInfoPtr pod) {
  const std::string uid = pod->uid();
  End(uid);
  const uint64_t next = first_ + events_.size();
  pods_[uid] = {.pod = std::move(pod), .begun = next};
  begun_.insert(next);
}

void InFlight::End(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  begun_.erase(begun_.find(found->second.begun));
  pods_.erase(found);
  // Drops events that precede all remaining Pods in flight.
  const uint64_t needed = begun_.empty() ? first_ + events_.size() : *begun_.begin();
  for (; first_ < needed; ++first_) events_.pop_front();
}

PodInfoPtr InFlight::Find(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : found->second.pod;
}

void InFlight::Update(PodInfoPtr pod) {
  const auto found = pods_.find(pod->uid());
  if (found != pods_.end()) found->second.pod = std::move(pod);
}

void InFlight::Record(const ClusterEvent& event) {
  if (!pods_.empty()) events_.push_back(event);
}

std::vector<const ClusterEvent*> InFlight::Since(const std::string& uid) const {
  std::vector<const ClusterEvent*> since;
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return since;
  for (size_t i = found->second.begun - first_; i < events_.size(); ++i) {
    since.push_back(&events_[i]);
  }
  return since;
}

}  // namespace cox::scheduler
