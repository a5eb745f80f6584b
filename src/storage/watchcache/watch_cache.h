// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "storage/store.h"
#include "storage/watchcache/change.h"
#include "storage/watchcache/encoding_budget.h"
#include "storage/watchcache/entry.h"
#include "storage/watchcache/metrics.h"
#include "storage/watchcache/revision_reader.h"
#include "storage/watchcache/snapshot.h"

namespace cox::storage {

// How fresh a read must be; the API's resourceVersion and resourceVersionMatch.
struct Freshness {
  enum class Match : uint8_t {
    kLatest,        // resourceVersion unset: sees every write acknowledged before
    kAny,           // "0": whatever is there
    kNotOlderThan,  // at least `revision`
    kExact,         // just `revision`
  };
  Match match = Match::kLatest;
  Revision revision = 0;
};

// All objects of one resource, kept as stored, kept fresh by one watch of the store underneath.
//
// Guarantees: a Snapshot is the resource as it was at its revision, and stays so. Watchers see
// every
//   change after the revision they begin at, once, in order. Reads with kLatest see every write
//   that was acknowledged before they were called. What a watcher got, a Read() afterwards has too.
// Failures underneath: the watch is started anew from the last revision; when that is compacted or
//   revisions do not add up (they went backwards, an event repeats or is missing) the cache lists
//   again, tells watchers the difference if their order permits and ends them with Expired if it
//   does not. Every few minutes it compares itself with the store.
// Threads: all methods may be called concurrently; readers take no lock while they read. Background
//   work runs until the cache is destroyed.
// Ownership: store, head reader and metrics outlive the cache; snapshots, entries and watchers may
//   outlive it.
class WatchCache {
 public:
  struct Options {
    std::string group;        // "" for core; for metrics and logs
    std::string resource;     // "pods", for metrics and logs
    std::string prefix;       // "/registry/pods/"
    size_t capacity = 1'024;  // changes kept for watchers that begin in the past; grows when busy
    size_t max_capacity = 65'536;
    const HeadReader* head_reader = nullptr;    // REQUIRED
    WatchCacheMetrics* metrics = nullptr;       // one for all caches of a server; may be null
    std::shared_ptr<EncodingBudget> encodings;  // likewise; null: one of its own
    std::shared_ptr<RevisionReader> revisions;  // one for all caches of a store; null: its own
  };

  static std::unique_ptr<WatchCache> Create(const Context& ctx, Store& store, Options options);
  virtual ~WatchCache() = default;

  // For a resource that is no longer served: stops the work in the background and waits for it.
  // Watchers end when they have taken what there is (Watcher::Batch::ended). Reads that need
  // something newer fail at once, as they fail when the cache does not catch up.
  virtual void End() = 0;

  // OK once the first list is there.
  virtual Status WaitReady(Context& ctx) = 0;
  virtual bool ready() const = 0;

  // Blocks until the cache is as fresh as asked, for 3 s at most. How it fails:
  //   kLatest: Unavailable when the cache does not catch up; the caller reads the store.
  //   kAny: Unavailable when the cache is not ready; the caller reads the store.
  //   kNotOlderThan, kExact: FutureRevisionError (errors.h) for a revision that does not come.
  //   kExact: Expired where the cache no longer has that revision; the caller reads the store.
  virtual Result<SnapshotPtr> Read(Context& ctx, const Freshness& freshness) = 0;
  // What is there now, without waiting. Null until ready.
  virtual SnapshotPtr Current() const = 0;
  // Blocks until the cache has everything up to `revision`: after a write of this resource, so that
  // the next read of kAny sees it. FutureRevisionError after 3 s.
  virtual Status WaitFor(Context& ctx, Revision revision) = 0;

  // Changes with a revision > `options.after`. Expired, with upstream's text ("too old resource
  // version: 5 (100)"), if the cache does not reach back that far; Unavailable until ready.
  virtual Result<std::unique_ptr<Watcher>> Watch(WatchOptions options) = 0;
  Result<std::unique_ptr<Watcher>> Watch(std::string prefix, Revision after,
                                         std::function<void()> wake) {
    WatchOptions options;
    options.prefix = std::move(prefix);
    options.after = after;
    options.wake = std::move(wake);
    return Watch(std::move(options));
  }

  struct Stats {
    size_t objects = 0;
    size_t watchers = 0;
    size_t bytes = 0;  // stored bytes held
    size_t capacity = 0;
    uint64_t lists = 0;  // how often the store was listed
  };
  virtual Stats stats() const = 0;
};

}  // namespace cox::storage
