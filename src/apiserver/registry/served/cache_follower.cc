// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/cache_follower.h"

#include "base/log.h"

namespace cox::apiserver {
namespace {

constexpr size_t kBatch = 256;
constexpr std::chrono::seconds kRetry{1};
// Safety net: no notification should be missed.
constexpr std::chrono::minutes kLookAgain{10};

}  // namespace

Status CacheFollower::Begin(const std::function<void()>& wake) {
  const storage::SnapshotPtr now = store_.cache()->Current();
  if (now == nullptr) return Status::Unavailable("the cache is not filled yet");
  COX_ASSIGN_OR_RETURN(watcher_,
                       store_.cache()->Watch(store_.root_prefix(), now->revision(), wake));
  sink_.Begin(*now);
  now->Visit(store_.root_prefix(), {}, [&](const storage::EntryPtr& entry) {
    sink_.Put(*entry);
    return true;
  });
  return {};
}

Result<bool> CacheFollower::CatchUp(const std::function<void()>& wake) {
  bool changed = false;
  for (;;) {
    if (watcher_ == nullptr) {
      COX_RETURN_IF_ERROR(Begin(wake));
      changed = true;
    }
    Result<storage::Watcher::Batch> batch = watcher_->Take(kBatch);
    if (!batch.ok()) {
      watcher_ = nullptr;  // too far behind, or the cache was refilled: read everything again
      continue;
    }
    for (const storage::ChangePtr& change : batch->changes) {
      if (change->entry == nullptr) continue;
      changed = true;
      if (change->type == storage::ChangeType::kDeleted) {
        sink_.Forget(change->entry->key());
      } else {
        sink_.Put(*change->entry);
      }
    }
    if (!batch->more) return changed;
  }
}

void RunCacheFollowers(Context& ctx, Notification& changed, std::string_view what,
                       const std::function<Status()>& catch_up) {
  while (!ctx.Done()) {
    const Status status = catch_up();
    if (!status.ok()) {
      COX_V(ctx.log(), 2, "Could not read the watch cache, will retry", {"what", what},
            {"why", status.message()});
    }
    changed.Await(ctx, status.ok() ? Clock::Duration(kLookAgain) : Clock::Duration(kRetry));
  }
}

}  // namespace cox::apiserver
