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

// How long a key that failed waits before it is tried again.
//
// Threads: all methods may be called concurrently.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // From now; each call counts as a failure of the key.
  virtual Clock::Duration When(const ObjectKey& key) = 0;
  virtual void Forget(const ObjectKey& key) = 0;
  virtual int Failures(const ObjectKey& key) const = 0;
};

// base * 2^failures, at most `max`: 5 ms to 1,000 s by default.
std::unique_ptr<RateLimiter> ExponentialBackoff(Clock::Duration base = std::chrono::milliseconds(5),
                                                Clock::Duration max = std::chrono::seconds(1000));
// A bucket over all keys: so many a second, so many at once.
std::unique_ptr<RateLimiter> OverallLimit(Clock& clock, double per_second, int burst);
// The longest wait of several.
std::unique_ptr<RateLimiter> MaxOf(std::vector<std::unique_ptr<RateLimiter>> limiters);
// What client-go and controller-runtime use: exponential per key, 10 a second (100 at once) over
// all.
std::unique_ptr<RateLimiter> DefaultRateLimiter(Clock& clock);

struct WorkQueueOptions {
  std::string name;                      // in metrics
  std::unique_ptr<RateLimiter> limiter;  // null: DefaultRateLimiter
  MetricsRegistry* metrics = nullptr;    // workqueue_*: client-go's names
};

// Higher comes first. Keys of one priority in the order they came.
inline constexpr int kNormalPriority = 0;
inline constexpr int kLowPriority = -100;  // initial lists and resyncs: behind what is news

// Keys that something has to be done for.
//
//   while (auto item = queue.Get(ctx)) {
//     if (Sync(item->key).ok()) queue.Forget(item->key); else queue.AddRateLimited(item->key);
//     queue.Done(item->key);
//   }
//
// Guarantees: a key is in the queue at most once, and handed out to one worker at a time: added
//   while it is being worked on, it is handed out again after Done. A key that was added is handed
//   out after that, always; so a worker that looks at the state of the world misses nothing.
//   Coalescing, so bounded by the number of keys. The higher priority of several adds counts, the
//   earlier of several delays.
// Threads: all methods may be called concurrently; many workers may Get.
class WorkQueue {
 public:
  static std::unique_ptr<WorkQueue> Create(Clock& clock, WorkQueueOptions options);
  virtual ~WorkQueue() = default;

  virtual void Add(ObjectKey key, int priority = kNormalPriority) = 0;
  virtual void AddAfter(ObjectKey key, Clock::Duration delay, int priority = kNormalPriority) = 0;
  virtual void AddRateLimited(ObjectKey key, int priority = kNormalPriority) = 0;
  // The key has no more failures: the next AddRateLimited waits the shortest time.
  virtual void Forget(const ObjectKey& key) = 0;
  virtual int Failures(const ObjectKey& key) const = 0;

  // Blocks until there is a key; none when the queue was shut down (and drained) or `ctx` stops.
  struct Item {
    ObjectKey key;
    int priority = kNormalPriority;
  };
  virtual std::optional<Item> Get(Context& ctx) = 0;
  // REQUIRED after each Get.
  virtual void Done(const ObjectKey& key) = 0;

  // Takes no more keys; those that are there are still handed out, unless they wait for a time.
  virtual void ShutDown() = 0;
  virtual size_t size() const = 0;  // ready now
};

}  // namespace cox
