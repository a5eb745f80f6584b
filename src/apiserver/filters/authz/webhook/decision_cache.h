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

// Decisions that hold for a while, by the text of the question.
//
// Bounded: of kEntries, the one not asked for longest goes first; questions beyond kMaxQuestion
//   bytes are not kept at all.
// Threads: all methods may be called concurrently.
class DecisionCache {
 public:
  static constexpr size_t kEntries = 8192;
  static constexpr size_t kMaxQuestion = 10'000;

  // None if it is not there or does not hold any more.
  std::optional<Decision> Find(std::string_view question, Clock::SteadyTime now);
  void Keep(std::string question, Decision decision, Clock::SteadyTime until);

 private:
  struct Kept {
    Decision decision;
    Clock::SteadyTime until;
  };

  Mutex mu_;
  LruMap<Kept> kept_ COX_GUARDED_BY(mu_){kEntries};
};

}  // namespace cox::apiserver
