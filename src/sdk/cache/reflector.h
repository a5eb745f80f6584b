// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/cache.h"
#include "coxswain/client.h"
#include "sdk/cache/resource_informer.h"
#include "sdk/client/response/stored_events.h"

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
// Threads: Run is called by one thread; or Step, on any thread, one call at a time.
class Reflector {
 public:
  Reflector(Client& client, const CacheOptions& options, std::shared_ptr<ResourceInformer> informer,
            ResourceInformer::FeedId feed, std::string ns, ReflectorMetrics* metrics);

  // Runs until `ctx` stops.
  void Run(Context& ctx);
  // Does what can be done without waiting for events or for the next attempt: lists, starts a
  // watch, or applies the events that have arrived. Blocks only until the server responds. Returns
  // when it must be called again at the latest; `ready` is called, on any thread, if that is
  // earlier, see WatchStream::TryNext.
  Clock::SteadyTime Step(Context& ctx, const std::function<void()>& ready);

 private:
  // The next request.
  enum class Request : uint8_t {
    kList,    // list in pages
    kStream,  // streaming list (sendInitialEvents)
    kWatch,   // watch for changes
  };
  struct Attempt {
    Status status;       // the reason why it ended
    int64_t events = 0;  // received after the list, including bookmarks
    Clock::Duration lived = {};
  };

  // A watch that has started.
  struct Running {
    Context limited;  // stops when the server should have ended the watch
    Clock::SteadyTime start;
    std::unique_ptr<WatchStream> stream;
    StoredEventStream* stored = nullptr;  // of `stream`; null if it cannot be shared
    bool listing = false;                 // the initial list is not complete
    std::vector<Item> items;              // of the initial list
  };

  void List(Context& ctx, Attempt& attempt);
  Result<Running> StartWatch(Context& ctx, bool initial);
  // Applies one event, or adds it to the initial list.
  Status TakeEvent(const Context& ctx, Running& watch, ItemEvent event, Attempt& attempt);
  static void TakeInitial(Running& watch, ItemEvent& event);
  Status EndInitial(const Context& ctx, Running& watch, const std::string& version);
  // As WatchStream::Next and TryNext.
  Result<ItemEvent> Next(Running& watch) const;
  Result<std::optional<ItemEvent>> TryNext(Running& watch,
                                           const std::function<void()>& ready) const;
  ItemEvent Prepare(WatchEvent<Object> event) const;
  ItemEvent Prepare(StoredEvent event) const;
  void CountWatch(const Running& watch, const Attempt& attempt);
  // Reads events until the stream ends.
  void Follow(Context& ctx, bool initial, Attempt& attempt);
  // Applies the events that have arrived. True if the watch has ended.
  bool FollowReady(const Context& ctx, const std::function<void()>& ready);
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

  Request next_;
  bool streaming_;       // until the server rejects it
  bool paged_ = true;    // until the continue token of a list expires
  bool newest_ = true;   // list without a resourceVersion next
  std::string version_;  // to watch from
  int failures_ = 0;     // consecutive failed attempts
  Reason logged_ = Reason::kUnknown;
  bool failing_ = false;  // a failure was logged
  std::minstd_rand random_;
  // Used by Step.
  std::optional<Running> watch_;
  Attempt attempt_;  // that is under way
  Clock::SteadyTime started_;
};

}  // namespace cox::sdk
