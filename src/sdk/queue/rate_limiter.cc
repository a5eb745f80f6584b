// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/token_bucket.h"
#include "coxswain/work_queue.h"

namespace cox {
namespace {

class Exponential final : public RateLimiter {
 public:
  Exponential(Clock::Duration base, Clock::Duration max) : base_(base), max_(max) {}

  Clock::Duration When(const ObjectKey& key) override {
    MutexLock lock(mu_);
    const int failures = failures_[key]++;
    // Beyond this the product would overflow, and it exceeds any maximum.
    constexpr int kDoublings = 62;
    if (failures >= kDoublings || base_.count() > (max_.count() >> failures)) return max_;
    return Clock::Duration(base_.count() << failures);
  }
  void Forget(const ObjectKey& key) override {
    MutexLock lock(mu_);
    // Called for every success; usually there are no failures.
    if (!failures_.empty()) failures_.erase(key);
  }
  int Failures(const ObjectKey& key) const override {
    MutexLock lock(mu_);
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

 private:
  const Clock::Duration base_, max_;
  mutable Mutex mu_;
  std::unordered_map<ObjectKey, int> failures_ COX_GUARDED_BY(mu_);
};

class Overall final : public RateLimiter {
 public:
  Overall(Clock& clock, double per_second, int burst) : clock_(clock), bucket_(per_second, burst) {}

  Clock::Duration When(const ObjectKey&) override {
    MutexLock lock(mu_);
    return bucket_.Reserve(clock_.Monotonic());
  }
  void Forget(const ObjectKey&) override {}
  int Failures(const ObjectKey&) const override { return 0; }

 private:
  Clock& clock_;
  Mutex mu_;
  TokenBucket bucket_ COX_GUARDED_BY(mu_);
};

class Max final : public RateLimiter {
 public:
  explicit Max(std::vector<std::unique_ptr<RateLimiter>> limiters)
      : limiters_(std::move(limiters)) {}

  Clock::Duration When(const ObjectKey& key) override {
    Clock::Duration longest{};
    for (const auto& limiter : limiters_) longest = std::max(longest, limiter->When(key));
    return longest;
  }
  void Forget(const ObjectKey& key) override {
    for (const auto& limiter : limiters_) limiter->Forget(key);
  }
  int Failures(const ObjectKey& key) const override {
    int most = 0;
    for (const auto& limiter : limiters_) most = std::max(most, limiter->Failures(key));
    return most;
  }

 private:
  const std::vector<std::unique_ptr<RateLimiter>> limiters_;
};

}  // namespace

std::unique_ptr<RateLimiter> ExponentialBackoff(Clock::Duration base, Clock::Duration max) {
  return std::make_unique<Exponential>(base, max);
}

std::unique_ptr<RateLimiter> OverallLimit(Clock& clock, double per_second, int burst) {
  return std::make_unique<Overall>(clock, per_second, burst);
}

std::unique_ptr<RateLimiter> MaxOf(std::vector<std::unique_ptr<RateLimiter>> limiters) {
  return std::make_unique<Max>(std::move(limiters));
}

std::unique_ptr<RateLimiter> DefaultRateLimiter(Clock& clock) {
  std::vector<std::unique_ptr<RateLimiter>> limiters;
  limiters.push_back(ExponentialBackoff());
  limiters.push_back(OverallLimit(clock, 10, 100));
  return MaxOf(std::move(limiters));
}

}  // namespace cox
