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

// Keeps a CacheState in sync with the store: lists, watches from there, and restarts on failures.
//
//   the watch breaks            -> a new watch from the last revision, after a backoff
//   Expired                     -> a new list
//   inconsistent events         -> a new list
//   backoff                     -> 50 ms, doubled up to 1 s, with jitter, so that the caches of a
//                                  server do not retry all at once
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

  // Requests a progress notification from the watch. Only one request is pending at a time, unless
  // `again` is set, because a request may have been lost.
  void RequestProgress(bool again);
  // Readers need `revision`, which the store has reached: requests progress until the cache has it.
  void RequireRevision(Revision revision);
  // Marks the state as inconsistent and starts a new list.
  void Relist(std::string why);

  uint64_t lists() const { return lists_.load(std::memory_order_relaxed); }

 private:
  Status List(Context& ctx);
  // Runs until the watch breaks.
  Status Follow(Context& ctx);
  void OnBatchApplied(const WatchBatch& batch, const CacheState::Outcome& outcome);
  void Pause(Context& ctx);
  void UpdateGauges();

  Store& store_;
  const std::string prefix_;
  CacheState& state_;
  WatchCacheMetrics::Series* const metrics_;

  std::atomic<uint64_t> lists_ = 0;
  std::atomic<Revision> required_revision_ =
      0;  // the revision that the store is known to have reached

  // Used only by the thread in Run().
  std::chrono::milliseconds pause_ = kFirstPause;
  std::minstd_rand random_;
  size_t capacity_ = 0;
  uint64_t expired_ = 0;

  Mutex mu_;
  bool must_list_ COX_GUARDED_BY(mu_) = true;
  std::optional<Context> following_ COX_GUARDED_BY(mu_);  // stopping it ends the watch
  std::shared_ptr<Watch> watch_ COX_GUARDED_BY(mu_);
  bool progress_requested_ COX_GUARDED_BY(mu_) = false;  // a progress request is pending
};

}  // namespace cox::storage
