// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// The required freshness of a read: resourceVersion and resourceVersionMatch of the API.
struct Freshness {
  enum class Match : uint8_t {
    kLatest,        // resourceVersion unset: sees every write acknowledged before
    kAny,           // "0": any available state
    kNotOlderThan,  // at least `revision`
    kExact,         // exactly `revision`
  };
  Match match = Match::kLatest;
  Revision revision = 0;
};

// All objects of one resource in their stored encoding, kept in sync by one watch on the store.
//
// Guarantees: a Snapshot is the immutable state of the resource at its revision. Watchers see every
//   change after their start revision, once, in order. Reads with kLatest see every write that was
//   acknowledged before the call. A Read() after a watcher received a change includes that change.
// Errors: if the watch on the store breaks, it is restarted from the last revision. If that
//   revision is compacted, or revisions are inconsistent (they decreased, an event is repeated or
//   missing), the cache lists again. Watchers then receive the difference as changes, or expire if
//   the changes cannot be put in order. Every few minutes the cache compares itself with the store.
// Threads: all methods may be called concurrently; readers take no lock while they read. Background
//   work runs until the cache is destroyed.
// Ownership: store, head reader and metrics outlive the cache; snapshots, entries and watchers may
//   outlive it.
class WatchCache {
 public:
  struct Options {
    std::string group;     // "" for core; for metrics and logs
    std::string resource;  // "pods", for metrics and logs
    std::string prefix;    // "/registry/pods/"
    // For watchers that resume: the number of latest changes that are kept in any case, and the
    // maximum number of changes that are younger than ChangeLog::kWindow.
    size_t capacity = 100;
    size_t max_capacity = 65'536;
    const HeadReader* head_reader = nullptr;    // REQUIRED
    WatchCacheMetrics* metrics = nullptr;       // one for all caches of a server; may be null
    std::shared_ptr<EncodingBudget> encodings;  // one for all caches of a server; null: its own
    std::shared_ptr<RevisionReader> revisions;  // one for all caches of a store; null: its own
  };

  static std::unique_ptr<WatchCache> Create(const Context& ctx, Store& store, Options options);
  virtual ~WatchCache() = default;

  // For a resource that is no longer served: stops the background work and waits for it. Watchers
  // end when they have taken all changes (Watcher::Batch::ended). Reads that need a newer revision
  // fail at once with the same errors as when the cache does not catch up.
  virtual void End() = 0;

  // Returns OK once the first list is complete.
  virtual Status WaitReady(Context& ctx) = 0;
  virtual bool ready() const = 0;

  // Blocks until the cache is as fresh as requested, for 3 s at most. Errors:
  //   kLatest: Unavailable if the cache does not catch up; the caller reads from the store.
  //   kAny: Unavailable if the cache is not ready; the caller reads from the store.
  //   kNotOlderThan, kExact: FutureRevisionError (errors.h) if the revision is not reached.
  //   kExact: Expired if the cache no longer has that revision; the caller reads from the store.
  virtual Result<SnapshotPtr> Read(Context& ctx, const Freshness& freshness) = 0;
  // The objects whose indexed field (HeadReader::indexed_field) has `value`, sorted by key; the
  // cost does not depend on the number of other objects. Errors: those of Read. REQUIRES: not
  // kExact, because the index has the current state only; `value` is not empty.
  virtual Result<Selection> ReadByField(Context& ctx, const Freshness& freshness,
                                        std::string_view value) = 0;
  // The current state, without waiting. Null until ready.
  virtual SnapshotPtr Current() const = 0;
  // Blocks until the cache has everything up to `revision`. Used after a write of this resource, so
  // that the next read with kAny sees it. FutureRevisionError after 3 s.
  virtual Status WaitFor(Context& ctx, Revision revision) = 0;

  // Changes with a revision > `options.after`. Errors: Expired, with upstream's text ("too old
  // resource version: 5 (100)"), if older changes were dropped; Unavailable until ready.
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
    uint64_t lists = 0;  // number of lists of the store
  };
  virtual Stats stats() const = 0;
};

}  // namespace cox::storage
