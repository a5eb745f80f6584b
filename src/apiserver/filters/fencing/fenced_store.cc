// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fencing/fenced_store.h"

#include <optional>
#include <utility>

#include "apiserver/registry/store/fenced_context.h"
#include "storage/errors.h"

namespace cox::apiserver {
namespace {

using storage::GuardedWrite;
using storage::Revision;
using storage::WriteResult;

// A Lease is renewed every few seconds, so a write rarely conflicts with a renewal, and hardly ever
// repeatedly. However far the watch cache lags behind, only the first attempt uses it.
constexpr int kMaxRenewals = 16;

class FencedStore final : public storage::Store {
 public:
  FencedStore(storage::Store& under, const Fencing& fencing) : under_(under), fencing_(fencing) {}

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          std::chrono::seconds ttl) override {
    COX_ASSIGN_OR_RETURN(const std::optional<WriteResult> result,
                         TryGuarded(ctx, {.key = key, .value = value, .ttl = ttl}));
    if (!result) return under_.Create(ctx, key, value, ttl);
    if (!result->written) return storage::KeyExistsError(key);
    return result->revision;
  }
  Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                             Revision expected, std::chrono::seconds ttl) override {
    COX_ASSIGN_OR_RETURN(
        std::optional<WriteResult> result,
        TryGuarded(ctx, {.key = key, .value = value, .expected = expected, .ttl = ttl}));
    if (!result) return under_.Update(ctx, key, value, expected, ttl);
    return *std::move(result);
  }
  Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) override {
    COX_ASSIGN_OR_RETURN(std::optional<WriteResult> result,
                         TryGuarded(ctx, {.key = key, .expected = expected}));
    if (!result) return under_.Delete(ctx, key, expected);
    return *std::move(result);
  }

  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    if (const std::string_view term = Fencing::TermOf(ctx);
        !term.empty() && IsInsteadOfWrite(ctx)) {
      COX_RETURN_IF_ERROR(fencing_.Check(ctx, term, Fencing::LeaseFrom::kStorage).status());
    }
    return under_.Get(ctx, key);
  }
  Result<storage::Page> List(Context& ctx, std::string_view prefix,
                             const storage::ListOptions& options) override {
    return under_.List(ctx, prefix, options);
  }
  Result<std::unique_ptr<storage::Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                     Revision after) override {
    return under_.StartWatch(ctx, prefix, after);
  }
  Result<Revision> CurrentRevision(Context& ctx) override { return under_.CurrentRevision(ctx); }
  Status Compact(Context& ctx, Revision revision) override { return under_.Compact(ctx, revision); }
  Status Healthy(Context& ctx) override { return under_.Healthy(ctx); }

  Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                   const storage::Guard& guard) override {
    return under_.WriteGuarded(ctx, write, guard);
  }
  const void* key_space() const override { return under_.key_space(); }

 private:
  // None: the write needs no guard.
  Result<std::optional<WriteResult>> TryGuarded(Context& ctx, const GuardedWrite& write) {
    const std::string_view term = Fencing::TermOf(ctx);
    if (term.empty()) return std::optional<WriteResult>();
    if (!CanGuard(under_, fencing_.store())) {
      COX_RETURN_IF_ERROR(fencing_.Check(ctx, term, Fencing::LeaseFrom::kStorage).status());
      return std::optional<WriteResult>();
    }
    Fencing::LeaseFrom source = Fencing::LeaseFrom::kCache;
    for (int renewals = 0; renewals <= kMaxRenewals; ++renewals) {
      COX_ASSIGN_OR_RETURN(const storage::Guard guard, fencing_.Check(ctx, term, source));
      COX_ASSIGN_OR_RETURN(WriteResult result, WriteGuarded(ctx, write, guard));
      const Revision found = result.current ? result.current->revision : 0;
      const bool nothing_to_remove = !write.value && write.expected == 0;
      // Not written although the key is as expected: the guard failed, because the Lease has
      // changed or the cache is behind, but the term may still match.
      if (result.written || found != write.expected || nothing_to_remove) {
        return std::optional(std::move(result));
      }
      source = Fencing::LeaseFrom::kStorage;
    }
    return Status::Unavailable("the Lease that the write depends on changes all the time");
  }

  storage::Store& under_;
  const Fencing& fencing_;
};

}  // namespace

std::unique_ptr<storage::Store> NewFencedStore(storage::Store& under, const Fencing& fencing) {
  return std::make_unique<FencedStore>(under, fencing);
}

storage::Store& FencedStores::Over(storage::Store& under) {
  MutexLock lock(mu_);
  std::unique_ptr<storage::Store>& store = stores_[&under];
  if (store == nullptr) store = NewFencedStore(under, fencing_);
  return *store;
}

}  // namespace cox::apiserver
