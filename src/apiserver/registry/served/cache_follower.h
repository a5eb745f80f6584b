// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "apiserver/registry/store/store.h"
#include "base/notification.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// Passes all objects of one resource from the watch cache to a sink: first the current state, then
// every change.
//
// Guarantees: the sink receives the states in order, and none of them twice unless it starts again
//   with Begin.
// Threads: one at a time.
class CacheFollower {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    // Called before all entries of `now` are put: the first time, or because changes were missed.
    // Objects of the sink that are not in `now` no longer exist.
    virtual void Begin(const storage::Snapshot& now) = 0;
    virtual void Put(const storage::Entry& entry) = 0;
    virtual void Forget(std::string_view key) = 0;
  };

  // `store` and `sink` outlive the follower.
  CacheFollower(const ResourceStore& store, Sink& sink) : store_(store), sink_(sink) {}

  // Passes all changes up to now to the sink. `wake`, as in storage::WatchOptions, is called when
  // there are more; it may be called until the follower is destroyed. Returns true if something
  // changed, Unavailable until the cache is filled.
  Result<bool> CatchUp(const std::function<void()>& wake);

 private:
  Status Begin(const std::function<void()>& wake);

  const ResourceStore& store_;
  Sink& sink_;
  std::unique_ptr<storage::Watcher> watcher_;
};

// Calls `catch_up` whenever `changed` is notified, and periodically, until `ctx` stops; after an
// error it retries soon. `catch_up` calls CacheFollower::CatchUp with a `wake` that notifies
// `changed`. `what` is for the log: "Roles".
void RunCacheFollowers(Context& ctx, Notification& changed, std::string_view what,
                       const std::function<Status()>& catch_up);

}  // namespace cox::apiserver
