// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/pacer.h"

#include <algorithm>
#include <chrono>

namespace cox::controllers::pods {
namespace {

constexpr size_t kSmall = 50;
constexpr std::chrono::microseconds kPerPod{500};
constexpr std::chrono::seconds kLongest{1};

}  // namespace

Clock::Duration Pacer::WaitFor(const ObjectKey& key, int64_t generation) const {
  MutexLock lock(mu_);
  const auto found = last_.find(key);
  if (found == last_.end() || found->second.generation != generation) return {};
  return std::max(Clock::Duration::zero(), found->second.until - clock_.Monotonic());
}

void Pacer::Settled(const ObjectKey& key, int64_t generation, size_t pods) {
  if (pods < kSmall) return Forget(key);  // most sets are small: nothing is stored for them
  const Clock::Duration pause =
      std::min<Clock::Duration>(kPerPod * static_cast<int64_t>(pods), kLongest);
  const Clock::SteadyTime until = clock_.In(pause);
  MutexLock lock(mu_);
  last_[key] = {until, generation};
}

void Pacer::Forget(const ObjectKey& key) {
  MutexLock lock(mu_);
  last_.erase(key);
}

}  // namespace cox::controllers::pods
