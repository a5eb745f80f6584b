// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "base/clock.h"
#include "base/lru_map.h"
#include "base/mutex.h"

namespace cox::apiserver {

// An LRU cache of decisions with expiry, keyed by the encoded review.
//
// Bounded: At most kEntries; reviews above kMaxQuestion bytes are not cached.
// Threads: All methods may be called concurrently.
class DecisionCache {
 public:
  static constexpr size_t kEntries = 8192;
  static constexpr size_t kMaxQuestion = 10'000;

  // None if there is no entry, or if it has expired.
  std::optional<Decision> Find(std::string_view review_body, Clock::SteadyTime now);
  void Keep(std::string review_body, Decision decision, Clock::SteadyTime until);

 private:
  struct Kept {
    Decision decision;
    Clock::SteadyTime until;
  };

  Mutex mu_;
  LruMap<Kept> kept_ COX_GUARDED_BY(mu_){kEntries};
};

}  // namespace cox::apiserver
