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

// What reflectors count, under client-go's names. Series are by the name of the resource.
struct ReflectorMetrics {
  explicit ReflectorMetrics(MetricsRegistry& registry);

  CounterVec& lists;
  HistogramVec& list_seconds;
  HistogramVec& items_per_list;
  CounterVec& watches;
  CounterVec& short_watches;
  HistogramVec& watch_seconds;
};

// Keeps one feed of an informer like the server: lists, watches from there, and does so again
// however that ends.
//
// Guarantees
//   - Lists are never older than what was seen: they are asked for "not older than", and the
//     informer refuses others.
//   - Requests are spaced: after an attempt that brought something at least backoff_min lies
//     between two starts, after others the distance doubles up to backoff_max. A server that asks
//     for more time (Retry-After) gets it.
//   - Nothing waits for ever: what is silent for longer than the timeout that the server was asked
//     for is ended from here.
// Threads: Run by one.
class Reflector {
 public:
  Reflector(Client& client, const CacheOptions& options, std::shared_ptr<ResourceInformer> informer,
            ResourceInformer::FeedId feed, std::string ns, ReflectorMetrics* metrics);

  // Until `ctx` stops.
  void Run(Context& ctx);

 private:
  // Where the objects come from next.
  enum class Next : uint8_t {
    kList,    // in pages
    kStream,  // as events of a watch
    kWatch,   // they are there: changes
  };
  struct Attempt {
    Status status;       // why it ended
    int64_t events = 0;  // that it brought after the list, also bookmarks
    Clock::Duration lived = {};
  };

  void List(Context& ctx, Attempt& attempt);
  void Watch(Context& ctx, bool initial, Attempt& attempt);
  // Reads events until the stream ends.
  Status Follow(Context& ctx, WatchStream& stream, bool initial, Attempt& attempt);
  Status Take(std::vector<Item> items, const std::string& version);
  ListOptions Scoped() const;
  std::chrono::seconds DrawTimeout();

  // What is next after `attempt`. False: it cannot wait.
  bool Learn(const Context& ctx, const Attempt& attempt);
  // True if what is next (the watch, or another way to list) is to be done at once.
  bool LearnFromList(const Status& status);
  void LearnFromWatch(const Status& status);
  Clock::Duration Pause(const Attempt& attempt);
  void Log(const Context& ctx, const Status& status);

  Client& client_;
  const CacheOptions& options_;
  const std::shared_ptr<ResourceInformer> informer_;
  const ResourceInformer::FeedId feed_;
  const std::string ns_;
  const std::string name_;  // of the resource, in metrics and log lines
  ReflectorMetrics* const metrics_;

  Next next_;
  bool streaming_;       // until the server refuses
  bool paged_ = true;    // until a list took longer than its pages are kept
  bool newest_ = true;   // the next list is asked for without a version
  std::string version_;  // watched from
  int failures_ = 0;     // attempts in a row that brought nothing
  Reason logged_ = Reason::kUnknown;
  bool failing_ = false;  // and that was logged
  std::minstd_rand random_;
};

}  // namespace cox::sdk
