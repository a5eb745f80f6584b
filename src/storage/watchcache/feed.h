// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "storage/store.h"
#include "storage/watchcache/cache_state.h"
#include "storage/watchcache/metrics.h"

namespace cox::storage {

// Keeps a CacheState as the store is: lists, watches from there, and begins again when that fails.
//
//   the watch breaks       -> a new one from the last revision, after a pause
//   Expired                -> a new list
//   events do not fit      -> a new list
//   pauses                 -> 50 ms, doubled to 1 s, a part of it by chance so that the caches of a
//                             server do not come back all at once
//
// Threads: Run() by one thread; the others concurrently.
class Feed {
 public:
  static constexpr std::chrono::milliseconds kFirstPause{50};
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  // `metrics` may be null.
  Feed(Store& store, std::string prefix, CacheState& state, WatchCacheMetrics::Series* metrics);

  // Returns when `ctx` stops.
  void Run(Context& ctx);

  // The watch is to tell the store's revision, soon. One request is under way at a time; `again`
  // sends another even so, for it may have been lost.
  void RequestProgress(bool again);
  // Readers know that the store has reached `revision`: asks until the cache has too.
  void Hurry(Revision revision);
  // The state is wrong: list again.
  void Relist(std::string why);

  uint64_t lists() const { return lists_.load(std::memory_order_relaxed); }

 private:
  Status List(Context& ctx);
  // Until the watch breaks.
  Status Follow(Context& ctx);
  void Took(const WatchBatch& batch, const CacheState::Outcome& outcome);
  void Pause(Context& ctx);
  void UpdateGauges();

  Store& store_;
  const std::string prefix_;
  CacheState& state_;
  WatchCacheMetrics::Series* const metrics_;

  std::atomic<uint64_t> lists_ = 0;
  std::atomic<Revision> hurry_ = 0;  // what the store is known to have reached

  // Of the thread in Run().
  std::chrono::milliseconds pause_ = kFirstPause;
  std::minstd_rand random_;
  size_t capacity_ = 0;
  uint64_t expired_ = 0;

  Mutex mu_;
  bool must_list_ COX_GUARDED_BY(mu_) = true;
  std::optional<Context> following_ COX_GUARDED_BY(mu_);  // stopping it ends the watch
  std::shared_ptr<Watch> watch_ COX_GUARDED_BY(mu_);
  bool asked_ COX_GUARDED_BY(mu_) = false;  // for progress, and not answered yet
};

}  // namespace cox::storage
