// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authz/webhook/decision_cache.h"

namespace cox::apiserver {

std::optional<Decision> DecisionCache::Find(std::string_view question, Clock::SteadyTime now) {
  MutexLock lock(mu_);
  const auto found = index_.find(question);
  if (found == index_.end()) return std::nullopt;
  const auto entry = found->second;
  if (entry->until <= now) {
    index_.erase(found);
    entries_.erase(entry);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->decision;
}

void DecisionCache::Keep(std::string question, Decision decision, Clock::SteadyTime until) {
  if (question.size() > kMaxQuestion) return;
  MutexLock lock(mu_);
  const auto found = index_.find(question);
  if (found != index_.end()) {
    found->second->decision = std::move(decision);
    found->second->until = until;
    return;
  }
  if (entries_.size() >= kEntries) {
    index_.erase(entries_.back().question);
    entries_.pop_back();
  }
  entries_.push_front({std::move(question), std::move(decision), until});
  index_.emplace(entries_.front().question, entries_.begin());
}

}  // namespace cox::apiserver
