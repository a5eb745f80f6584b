// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/cache.h"
#include "coxswain/client.h"
#include "sdk/cache/resource_informer.h"

namespace cox::sdk {

// Reflector metrics with the names used by client-go, labeled with the resource's name.
struct ReflectorMetrics {
  explicit ReflectorMetrics(MetricsRegistry& registry);

  CounterVec& lists;
  HistogramVec& list_seconds;
  HistogramVec& items_per_list;
  CounterVec& watches;
  CounterVec& short_watches;
  HistogramVec& watch_seconds;
};

// Keeps one feed of an informer in sync with the server: lists, watches from the list's version,
// and starts again when the watch ends.
//
// Guarantees
//   - The cache never goes back: lists are requested with NotOlderThan, and the informer rejects
//     older ones.
//   - Requests are spaced: after a successful attempt, at least backoff_min lies between two
//     starts; after failures the delay doubles up to backoff_max. Retry-After is respected.
//   - Nothing blocks forever: the client cancels a request that exceeds its timeout.
// Threads: Run is called by one thread.
class Reflector {
 public:
  Reflector(Client& client, const CacheOptions& options, std::shared_ptr<ResourceInformer> informer,
            ResourceInformer::FeedId feed, std::string ns, ReflectorMetrics* metrics);

  // Runs until `ctx` stops.
  void Run(Context& ctx);

 private:
  // The next request.
  enum class Next : uint8_t {
    kList,    // list in pages
    kStream,  // streaming list (sendInitialEvents)
    kWatch,   // watch for changes
  };
  struct Attempt {
    Status status;       // the reason why it ended
    int64_t events = 0;  // received after the list, including bookmarks
    Clock::Duration lived = {};
  };

  void List(Context& ctx, Attempt& attempt);
  void Watch(Context& ctx, bool initial, Attempt& attempt);
  // Reads events until the stream ends.
  Status Follow(Context& ctx, WatchStream& stream, bool initial, Attempt& attempt);
  Status Take(std::vector<Item> items, const std::string& version);
  ListOptions Scoped() const;
  std::chrono::seconds DrawTimeout();

  // Selects the next request after `attempt`. Returns false if it must be sent without a delay.
  bool HandleResult(const Context& ctx, const Attempt& attempt);
  // True if the next request (the watch, or another form of list) must be sent immediately.
  bool HandleListResult(const Status& status);
  void HandleWatchResult(const Status& status);
  Clock::Duration Pause(const Attempt& attempt);
  void Log(const Context& ctx, const Status& status);

  Client& client_;
  const CacheOptions& options_;
  const std::shared_ptr<ResourceInformer> informer_;
  const ResourceInformer::FeedId feed_;
  const std::string ns_;
  const std::string name_;  // resource name in metrics and logs
  ReflectorMetrics* const metrics_;

  Next next_;
  bool streaming_;       // until the server rejects it
  bool paged_ = true;    // until the continue token of a list expires
  bool newest_ = true;   // list without a resourceVersion next
  std::string version_;  // to watch from
  int failures_ = 0;     // consecutive failed attempts
  Reason logged_ = Reason::kUnknown;
  bool failing_ = false;  // a failure was logged
  std::minstd_rand random_;
};

}  // namespace cox::sdk
