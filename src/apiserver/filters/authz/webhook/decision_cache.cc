// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/webhook/decision_cache.h"

namespace cox::apiserver {

std::optional<Decision> DecisionCache::Find(std::string_view question, Clock::SteadyTime now) {
  MutexLock lock(mu_);
  const Kept* kept = kept_.Find(question);
  if (kept == nullptr) return std::nullopt;
  if (kept->until > now) return kept->decision;
  kept_.Erase(question);
  return std::nullopt;
}

void DecisionCache::Keep(std::string question, Decision decision, Clock::SteadyTime until) {
  if (question.size() > kMaxQuestion) return;
  MutexLock lock(mu_);
  kept_.Put(std::move(question), {std::move(decision), until});
}

}  // namespace cox::apiserver
