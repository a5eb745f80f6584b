// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/mutex.h"
#include "storage/store.h"

namespace cox::testkit {

// A Store over a Store whose watches can be held back: a server on it shows, from its watch cache,
// the past. What it reads from the store itself is new, and what it writes is checked, as it is
// with a server that etcd is slow to tell of changes.
//
// Threads: as Store.
// Ownership: `under`, which has guarded writes, outlives it; watches may not.
class LaggingStore final : public storage::Store {
 public:
  explicit LaggingStore(storage::Store& under);

  // While true, no watch brings anything. What happened meanwhile comes afterwards.
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
