// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/fence.h"

#include "storage/errors.h"

namespace cox::apiserver {
namespace {

using storage::GuardedWrite;
using storage::Revision;
using storage::WriteResult;

// A Lease is renewed every few seconds: a write meets that now and then, and not twice in a row.
constexpr int kMaxRenewals = 16;

// None: the fence holds, but the store cannot write by it.
Result<std::optional<WriteResult>> TryGuarded(const WriteContext& w, storage::Store& store,
                                              const GuardedWrite& write) {
  for (int renewals = 0; renewals < kMaxRenewals; ++renewals) {
    COX_ASSIGN_OR_RETURN(const storage::Guard guard, w.fence->Check(w.ctx));
    if (!storage::CanGuard(store, w.fence->store())) return std::optional<WriteResult>();
    COX_ASSIGN_OR_RETURN(WriteResult result,
                         storage::GuardedWrites::Of(store)->Write(w.ctx, write, guard));
    const Revision found = result.current ? result.current->revision : 0;
    // Not written though the key is as expected: it was the guard, which may hold in its new form.
    if (result.written || found != write.expected) return std::optional(std::move(result));
  }
  return Status::Unavailable("the Lease that the write depends on changes all the time");
}

}  // namespace

Result<Revision> CreateFenced(const WriteContext& w, storage::Store& store, std::string_view key,
                              std::string_view value, std::chrono::seconds ttl) {
  if (w.fence != nullptr) {
    COX_ASSIGN_OR_RETURN(const std::optional<WriteResult> result,
                         TryGuarded(w, store, {.key = key, .value = value, .ttl = ttl}));
    if (result && !result->written) return storage::KeyExistsError(key);
    if (result) return result->revision;
  }
  return store.Create(w.ctx, key, value, ttl);
}

Result<WriteResult> UpdateFenced(const WriteContext& w, storage::Store& store, std::string_view key,
                                 std::string_view value, Revision expected,
                                 std::chrono::seconds ttl) {
  if (w.fence != nullptr) {
    const GuardedWrite write{.key = key, .value = value, .expected = expected, .ttl = ttl};
    COX_ASSIGN_OR_RETURN(std::optional<WriteResult> result, TryGuarded(w, store, write));
    if (result) return *std::move(result);
  }
  return store.Update(w.ctx, key, value, expected, ttl);
}

Result<WriteResult> DeleteFenced(const WriteContext& w, storage::Store& store, std::string_view key,
                                 Revision expected) {
  if (w.fence != nullptr) {
    COX_ASSIGN_OR_RETURN(std::optional<WriteResult> result,
                         TryGuarded(w, store, {.key = key, .expected = expected}));
    if (result) return *std::move(result);
  }
  return store.Delete(w.ctx, key, expected);
}

}  // namespace cox::apiserver
