// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta/v1.h"
#include "base/context.h"
#include "coxswain/client.h"
#include "object/owner.h"

// Finalizers: deleting an object that has finalizers only marks it; it is removed when the last
// finalizer has been removed. A controller that keeps external state for an object adds a
// finalizer, and removes it after it has cleaned up that state.
//
//   COX_ASSIGN_OR_RETURN(Backup backup, client.Get<Backup>(ctx, key));
//   COX_ASSIGN_OR_RETURN(const Finalization state,
//                        Finalize(ctx, client, backup, "example.com/bucket",
//                                 [&](Context& ctx) { return DeleteBucket(ctx, backup); }));
//   if (state == Finalization::kGone) return ReconcileResult::Done();
//   ... create the bucket: the finalizer is stored
//
// HasFinalizer(meta, name), AddFinalizer(&meta, name) and RemoveFinalizer(&meta, name) in
// object/owner.h work on metadata only.
namespace cox {

enum class Finalization : uint8_t {
  kActive,  // the finalizer is set and the object is not being deleted: continue
  kGone,    // the object is being deleted and the finalizer is removed: stop
};

namespace internal {
// Writes the finalizers of `meta` if the object has not changed since it was read.
Result<Object> WriteFinalizers(Context& ctx, Client& client, const Resource& resource,
                               const meta::v1::ObjectMeta& meta);
// True if the failure to remove a finalizer means that the object no longer exists.
bool IsGone(const Status& status);
}  // namespace internal

// Handles finalizer `name` of `object`:
//   not being deleted, not set    adds it; `object` is then the stored object
//   not being deleted, set        nothing
//   being deleted, set            calls `cleanup`, and removes it if that returns OK
//   being deleted, not set        nothing
//
// Guarantees: kActive is returned only if the finalizer is stored, so that state created
//   afterwards will be cleaned up. The finalizer is removed only after `cleanup` has returned OK.
//   Other finalizers are not changed: each write is a patch conditional on the resourceVersion.
// REQUIRES: `cleanup` is idempotent. It may be called again after it returned OK, if the process
//   ended before the finalizer was removed.
// Errors: those of `cleanup`; Conflict if `object` is not the newest version (reconcile again with
//   the current object); others of the client.
template <class T>
  requires requires { T::kKind; }
Result<Finalization> Finalize(Context& ctx, Client& client, T& object, std::string_view name,
                              const std::function<Status(Context&)>& cleanup) {
  meta::v1::ObjectMeta meta = object.metadata;
  if (meta.deletionTimestamp.has_value()) {
    if (!RemoveFinalizer(&meta, name)) return Finalization::kGone;
    COX_RETURN_IF_ERROR(cleanup(ctx));
    const Status removed = internal::WriteFinalizers(ctx, client, Resource::Of<T>(), meta).status();
    if (!removed.ok() && !internal::IsGone(removed)) return removed;
    return Finalization::kGone;
  }
  if (!AddFinalizer(&meta, name)) return Finalization::kActive;
  COX_ASSIGN_OR_RETURN(Object stored,
                       internal::WriteFinalizers(ctx, client, Resource::Of<T>(), meta));
  T* inner = stored.As<T>();
  if (inner == nullptr) return Status::Internal("the answer is a " + stored.gvk().ToString());
  object = std::move(*inner);
  return Finalization::kActive;
}

}  // namespace cox
