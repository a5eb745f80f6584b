// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/webhook/decision_cache.h"

namespace cox::apiserver {

std::optional<Decision> DecisionCache::Find(std::string_view review_body, Clock::SteadyTime now) {
  MutexLock lock(mu_);
  const Kept* kept = kept_.Find(review_body);
  if (kept == nullptr) return std::nullopt;
  if (kept->until > now) return kept->decision;
  kept_.Erase(review_body);
  return std::nullopt;
}

void DecisionCache::Keep(std::string review_body, Decision decision, Clock::SteadyTime until) {
  if (review_body.size() > kMaxQuestion) return;
  MutexLock lock(mu_);
  kept_.Put(std::move(review_body), {std::move(decision), until});
}

}  // namespace cox::apiserver
