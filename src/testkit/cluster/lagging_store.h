// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/mutex.h"
#include "storage/store.h"

namespace cox::testkit {

// A Store wrapper that can hold back watch events, so that the watch cache of a server is stale.
// Reads from the store are current and writes are checked, as with a server that gets etcd's events
// late.
//
// Threads: like Store.
// Ownership: `under`, which supports guarded writes, outlives it; watches must not outlive it.
class LaggingStore final : public storage::Store {
 public:
  explicit LaggingStore(storage::Store& under);

  // While true, watches deliver nothing. Pending events are delivered afterwards.
  void SetLagging(bool lagging);

  Result<storage::Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                                   std::chrono::seconds ttl) override;
  Result<GetResult> Get(Context& ctx, std::string_view key) override;
  Result<storage::Page> List(Context& ctx, std::string_view prefix,
                             const storage::ListOptions& options) override;
  Result<storage::WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                                      storage::Revision expected,
                                      std::chrono::seconds ttl) override;
  Result<storage::WriteResult> Delete(Context& ctx, std::string_view key,
                                      storage::Revision expected) override;
  Result<std::unique_ptr<storage::Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                     storage::Revision after) override;
  Result<storage::Revision> CurrentRevision(Context& ctx) override;
  Status Compact(Context& ctx, storage::Revision revision) override;
  Status Healthy(Context& ctx) override;

  Result<storage::WriteResult> WriteGuarded(Context& ctx, const storage::GuardedWrite& write,
                                            const storage::Guard& guard) override;
  const void* key_space() const override;

 private:
  class LaggingWatch;

  Status AwaitNews(Context& ctx);

  storage::Store& under_;
  Mutex mu_;
  CondVar changed_;
  bool lagging_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::testkit
