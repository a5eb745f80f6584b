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

// Finalizers: an object that has some is not removed when it is deleted, but marked; it goes when
// the last one has been taken off. Who keeps something outside of the cluster for an object puts
// one on, and takes it off when that has been cleaned up.
//
//   COX_ASSIGN_OR_RETURN(Backup backup, client.Get<Backup>(ctx, key));
//   COX_ASSIGN_OR_RETURN(const Finalization state,
//                        Finalize(ctx, client, backup, "example.com/bucket",
//                                 [&](Context& ctx) { return DeleteBucket(ctx, backup); }));
//   if (state == Finalization::kGone) return ReconcileResult::Done();
//   ... make the bucket: the finalizer is on, whatever happens next
//
// HasFinalizer(meta, name), AddFinalizer(&meta, name) and RemoveFinalizer(&meta, name) of
// object/owner.h work on metadata alone.
namespace cox {

enum class Finalization : uint8_t {
  kInPlace,  // the finalizer is on, and the object is not being deleted: go on
  kGone,     // it is being deleted, and has nothing more to do with us: stop here
};

namespace internal {
// Writes the finalizers of `meta`, if the object still is the one that was read.
Result<Object> WriteFinalizers(Context& ctx, Client& client, const Resource& resource,
                               const meta::v1::ObjectMeta& meta);
// Whether the failure of taking one off says that the object is gone anyway.
bool IsGone(const Status& status);
}  // namespace internal

// Does what is to be done about finalizer `name` of `object`, as it was read:
//   not being deleted, not on    puts it on; `object` is then as stored
//   not being deleted, on        nothing
//   being deleted, on            calls `cleanup`, and takes it off when that is OK
//   being deleted, not on        nothing
//
// Guarantees: kInPlace is returned only when the finalizer is stored: what is made after it will be
//   cleaned up. It is taken off only after `cleanup` was OK. Other finalizers stay as they are:
//   each write is a patch that depends on the resourceVersion.
// `cleanup` may be called more than once, also after it was OK (the process ended before the
//   finalizer was off): what is gone already is no error.
// Errors: those of `cleanup`; Conflict if `object` is not the newest (reconcile again, with what is
//   then there); others of the client.
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
  if (!AddFinalizer(&meta, name)) return Finalization::kInPlace;
  COX_ASSIGN_OR_RETURN(Object stored,
                       internal::WriteFinalizers(ctx, client, Resource::Of<T>(), meta));
  T* inner = stored.As<T>();
  if (inner == nullptr) return Status::Internal("the answer is a " + stored.gvk().ToString());
  object = std::move(*inner);
  return Finalization::kInPlace;
}

}  // namespace cox
