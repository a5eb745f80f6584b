// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox {

// Computes the delay before a failed key is retried.
//
// Threads: all methods may be called concurrently.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // Delay from now. Each call counts as a failure of the key.
  virtual Clock::Duration When(const ObjectKey& key) = 0;
  virtual void Forget(const ObjectKey& key) = 0;
  virtual int Failures(const ObjectKey& key) const = 0;
};

// base * 2^failures, at most `max`: 5 ms to 1,000 s by default.
std::unique_ptr<RateLimiter> ExponentialBackoff(Clock::Duration base = std::chrono::milliseconds(5),
                                                Clock::Duration max = std::chrono::seconds(1000));
// Token bucket shared by all keys: rate per second and burst.
std::unique_ptr<RateLimiter> OverallLimit(Clock& clock, double per_second, int burst);
// The longest delay of several limiters.
std::unique_ptr<RateLimiter> MaxOf(std::vector<std::unique_ptr<RateLimiter>> limiters);
// The default of client-go and controller-runtime: exponential per key, and 10 per second with a
// burst of 100 over all keys.
std::unique_ptr<RateLimiter> DefaultRateLimiter(Clock& clock);

struct WorkQueueOptions {
  std::string name;                      // label in metrics
  std::unique_ptr<RateLimiter> limiter;  // null: DefaultRateLimiter
  MetricsRegistry* metrics = nullptr;    // workqueue_* metrics, as in client-go
};

// Higher priorities come first. Keys of equal priority are FIFO.
inline constexpr int kNormalPriority = 0;
inline constexpr int kLowPriority = -100;  // initial lists and resyncs: after changes

// A work queue of object keys.
//
//   while (auto item = queue.Get(ctx)) {
//     if (Sync(item->key).ok()) queue.Forget(item->key); else queue.AddRateLimited(item->key);
//     queue.Done(item->key);
//   }
//
// Guarantees: a key is in the queue at most once and is processed by one worker at a time; a key
//   that is added while it is processed is returned again after Done. Every added key is returned
//   by a later Get, so that a worker that reads the current state misses no change. Duplicate keys
//   are coalesced, so that the size is bounded by the number of keys. If a key is added several
//   times, the highest priority and the earliest time apply.
// Threads: all methods may be called concurrently; many workers may Get.
class WorkQueue {
 public:
  static std::unique_ptr<WorkQueue> Create(Clock& clock, WorkQueueOptions options);
  virtual ~WorkQueue() = default;

  virtual void Add(ObjectKey key, int priority = kNormalPriority) = 0;
  virtual void AddAfter(ObjectKey key, Clock::Duration delay, int priority = kNormalPriority) = 0;
  virtual void AddRateLimited(ObjectKey key, int priority = kNormalPriority) = 0;
  // Resets the failures of the key: the next AddRateLimited uses the shortest delay.
  virtual void Forget(const ObjectKey& key) = 0;
  virtual int Failures(const ObjectKey& key) const = 0;

  // Blocks until a key is available. No value if the queue was shut down (and drained) or `ctx`
  // stops.
  struct Item {
    ObjectKey key;
    int priority = kNormalPriority;
  };
  virtual std::optional<Item> Get(Context& ctx) = 0;
  // REQUIRED after each Get.
  virtual void Done(const ObjectKey& key) = 0;

  // Rejects new keys. Keys that are ready are still returned; delayed keys are dropped.
  virtual void ShutDown() = 0;
  virtual size_t size() const = 0;  // ready keys
};

}  // namespace cox
