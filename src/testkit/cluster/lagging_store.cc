// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/lagging_store.h"

#include <optional>
#include <utility>

namespace cox::testkit {
class LaggingStore::LaggingWatch final : public storage::Watch {
 public:
  LaggingWatch(std::unique_ptr<storage::Watch> under, LaggingStore& store)
      : under_(std::move(under)), store_(store) {}

  Result<storage::WatchBatch> Next(Context& ctx) override {
    if (!held_) {
      COX_ASSIGN_OR_RETURN(held_, under_->Next(ctx));
    }
    // The batch is kept if the caller's context stops, so that it is not lost.
    COX_RETURN_IF_ERROR(store_.AwaitNews(ctx));
    return *std::exchange(held_, std::nullopt);
  }
  Status RequestProgress() override { return under_->RequestProgress(); }

 private:
  const std::unique_ptr<storage::Watch> under_;
  LaggingStore& store_;
  std::optional<storage::WatchBatch> held_;
};

LaggingStore::LaggingStore(storage::Store& under) : under_(under) {}

void LaggingStore::SetLagging(bool lagging) {
  MutexLock lock(mu_);
  lagging_ = lagging;
  changed_.NotifyAll();
}

Status LaggingStore::AwaitNews(Context& ctx) {
  MutexLock lock(mu_);
  return ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return !lagging_; });
}

Result<storage::Revision> LaggingStore::Create(Context& ctx, std::string_view key,
                                               std::string_view value, std::chrono::seconds ttl) {
  return under_.Create(ctx, key, value, ttl);
}

Result<storage::Store::GetResult> LaggingStore::Get(Context& ctx, std::string_view key) {
  return under_.Get(ctx, key);
}

Result<storage::Page> LaggingStore::List(Context& ctx, std::string_view prefix,
                                         const storage::ListOptions& options) {
  return under_.List(ctx, prefix, options);
}

Result<storage::WriteResult> LaggingStore::Update(Context& ctx, std::string_view key,
                                                  std::string_view value,
                                                  storage::Revision expected,
                                                  std::chrono::seconds ttl) {
  return under_.Update(ctx, key, value, expected, ttl);
}

Result<storage::WriteResult> LaggingStore::Delete(Context& ctx, std::string_view key,
                                                  storage::Revision expected) {
  return under_.Delete(ctx, key, expected);
}

Result<std::unique_ptr<storage::Watch>> LaggingStore::StartWatch(Context& ctx,
                                                                 std::string_view prefix,
                                                                 storage::Revision after) {
  COX_ASSIGN_OR_RETURN(std::unique_ptr<storage::Watch> watch,
                       under_.StartWatch(ctx, prefix, after));
  return std::unique_ptr<storage::Watch>(std::make_unique<LaggingWatch>(std::move(watch), *this));
}

Result<storage::Revision> LaggingStore::CurrentRevision(Context& ctx) {
  return under_.CurrentRevision(ctx);
}

Status LaggingStore::Compact(Context& ctx, storage::Revision revision) {
  return under_.Compact(ctx, revision);
}

Status LaggingStore::Healthy(Context& ctx) { return under_.Healthy(ctx); }

Result<storage::WriteResult> LaggingStore::WriteGuarded(Context& ctx,
                                                        const storage::GuardedWrite& write,
                                                        const storage::Guard& guard) {
  return under_.WriteGuarded(ctx, write, guard);
}

const void* LaggingStore::key_space() const { return under_.key_space(); }

}  // namespace cox::testkit
