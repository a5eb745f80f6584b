// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "apiserver/registry/store/store.h"
#include "base/doorbell.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// Tells somebody of all objects of one resource, as the server's watch cache has them: first what
// is there, then every change.
//
// Guarantees: the sink hears of each state in order, and of none twice unless it has to begin anew.
// Threads: one at a time.
class CacheFollower {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    // All of `now` is about to be put: for the first time, or because changes were missed. What the
    // sink knows and `now` does not have is gone.
    virtual void Begin(const storage::Snapshot& now) = 0;
    virtual void Put(const storage::Entry& entry) = 0;
    virtual void Forget(std::string_view key) = 0;
  };

  // Both outlive it.
  CacheFollower(const ResourceStore& store, Sink& sink) : store_(store), sink_(sink) {}

  // Brings the sink up to now. `wake`, as in storage::WatchOptions, says when there is more; it may
  // be called until the follower is destroyed. True if something changed. Unavailable until the
  // cache is filled.
  Result<bool> CatchUp(const std::function<void()>& wake);

 private:
  Status Begin(const std::function<void()>& wake);

  const ResourceStore& store_;
  Sink& sink_;
  std::unique_ptr<storage::Watcher> watcher_;
};

// Calls `catch_up`, which brings its followers up to now with `changed` as what wakes them, when
// there is something new, until `ctx` stops; soon again after it failed. `what`, for the log:
// "Roles".
void KeepUp(Context& ctx, Doorbell& changed, std::string_view what,
            const std::function<Status()>& catch_up);

}  // namespace cox::apiserver
