// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apiserver/registry/served/served_resource.h"
#include "apiserver/registry/store/store.h"
#include "base/context.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// A kind in the registry: its strategy, the store of its objects with the watch cache, and a
// resource for each version that it is served as.
//
// Threads: all methods may be called concurrently.
// Ownership: shared by the registry and by the holders of its resources (ServedResource::Hold).
//   When the registry drops the kind, its watches are closed, and requests in progress read from
//   storage.
class RegisteredKind : public std::enable_shared_from_this<RegisteredKind> {
 public:
  // Options that all kinds of a registry share.
  struct Shared {
    std::shared_ptr<storage::WatchCacheMetrics> metrics;  // may be null
    std::shared_ptr<storage::EncodingBudget> encodings;
    std::string root;
    std::chrono::seconds ttl{0};  // see ResourceStore::Options
    bool watch_cache = true;
  };
  // The cache runs until `ctx` stops or End is called. `serves` selects the versions that get a
  // resource; null: all of them. `storage` outlives the kind.
  RegisteredKind(const Context& ctx, SharedStrategy strategy, storage::Store& storage,
                 std::shared_ptr<storage::RevisionReader> revisions, const Shared& shared,
                 const std::function<bool(const KindInfo&)>& serves);
  ~RegisteredKind();
  RegisteredKind(const RegisteredKind&) = delete;
  RegisteredKind& operator=(const RegisteredKind&) = delete;

  const Strategy& strategy() const { return *strategy_; }
  ResourceStore& store() const { return *store_; }
  std::span<const std::unique_ptr<const ServedResource>> resources() const { return resources_; }

  // OK once the cache has its first list.
  Status WaitReady(Context& ctx) const;
  bool ready() const;

  // Stops the cache and closes its watches. Blocks until they have stopped.
  void End();

 private:
  class Heads;

  const SharedStrategy strategy_;
  const std::shared_ptr<storage::WatchCacheMetrics> metrics_;
  const std::unique_ptr<ResourceStore> store_;
  const std::unique_ptr<Heads> heads_;
  std::unique_ptr<storage::WatchCache> cache_;  // null: reads go to storage
  std::vector<std::unique_ptr<const ServedResource>> resources_;
};

}  // namespace cox::apiserver
