// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/store/store.h"
#include "object/owner.h"

// Deletion: immediately, after a grace period, or when the last finalizer is removed.
namespace cox::apiserver {
namespace {

constexpr std::string_view kOrphanFinalizer = "orphan";
constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// The propagation policy: from the request, else from existing finalizers, else from the kind.
Propagation PropagationFor(const meta::v1::DeleteOptions& options, const Object& object,
                           const Strategy& strategy) {
  if (options.orphanDependents) {
    return *options.orphanDependents ? Propagation::kOrphan : Propagation::kBackground;
  }
  if (options.propagationPolicy) {
    if (*options.propagationPolicy == "Orphan") return Propagation::kOrphan;
    if (*options.propagationPolicy == "Foreground") return Propagation::kForeground;
    return Propagation::kBackground;
  }
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  if (HasFinalizer(meta, kOrphanFinalizer)) return Propagation::kOrphan;
  if (HasFinalizer(meta, kForegroundFinalizer)) return Propagation::kForeground;
  return strategy.DefaultPropagation(object);
}

// Other finalizers keep their order; the one for the propagation is appended. If the right one is
// already present, the order does not change.
void SetPropagation(Propagation propagation, meta::v1::ObjectMeta* meta) {
  const List<std::string> before = meta->finalizers;
  erase(meta->finalizers, kOrphanFinalizer);
  erase(meta->finalizers, kForegroundFinalizer);
  if (propagation == Propagation::kOrphan) meta->finalizers.emplace_back(kOrphanFinalizer);
  if (propagation == Propagation::kForeground) meta->finalizers.emplace_back(kForegroundFinalizer);
  List<std::string> a = before, b = meta->finalizers;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a == b) meta->finalizers = before;
}

}  // namespace

Status ResourceStore::CheckPreconditions(const meta::v1::DeleteOptions& options,
                                         const Object& object) const {
  if (!options.preconditions) return {};
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  // The error contains the kind, not the resource, as upstream.
  const Resource named{kind().group, kind().kind};
  if (options.preconditions->uid && *options.preconditions->uid != meta.uid) {
    return ConflictError(named, meta.name,
                         "the UID in the precondition (" + *options.preconditions->uid +
                             ") does not match the UID in record (" + meta.uid +
                             "). The object might have been deleted and then recreated");
  }
  if (options.preconditions->resourceVersion &&
      *options.preconditions->resourceVersion != meta.resourceVersion) {
    return ConflictError(named, meta.name,
                         "the ResourceVersion in the precondition (" +
                             *options.preconditions->resourceVersion +
                             ") does not match the ResourceVersion in record (" +
                             meta.resourceVersion + "). The object might have been modified");
  }
  return {};
}

ResourceStore::Deletion ResourceStore::BeginGracefulDeletion(const WriteContext& w,
                                                             const meta::v1::DeleteOptions& options,
                                                             Object& object) const {
  meta::v1::ObjectMeta& meta = *object.object_meta();
  std::optional<int64_t> requested = options.gracePeriodSeconds;
  if (requested && *requested < 0) requested = 1;
  if (!meta.deletionTimestamp) {
    SetPropagation(PropagationFor(options, object, strategy()), &meta);
    const int64_t grace = strategy().GracePeriodSeconds(object, requested);
    meta.deletionTimestamp = w.now + Duration::Seconds(grace);
    meta.deletionGracePeriodSeconds = grace;
    // A generation of 0 means that the kind has none.
    if (meta.generation > 0) ++meta.generation;
    strategy().MarkDeleting(w, object);
  } else {
    const int64_t pending = meta.deletionGracePeriodSeconds.value_or(0);
    if (pending == 0 && !KeptByFinalizers(object)) {
      // A conflict or a crash prevented the removal after the end of the grace period was written.
      SetPropagation(PropagationFor(options, object, strategy()), &meta);
      return KeptByFinalizers(object) ? Deletion::kMarked : Deletion::kRemovable;
    }
    // Only an explicit shorter period changes a pending deletion. Any other request has no effect
    // at all, also not on the propagation policy.
    if (!requested || *requested >= pending) return Deletion::kUnchanged;
    SetPropagation(PropagationFor(options, object, strategy()), &meta);
    const Time begun = *meta.deletionTimestamp + Duration::Seconds(-pending);
    meta.deletionTimestamp = std::max(begun + Duration::Seconds(*requested), w.now);
    meta.deletionGracePeriodSeconds = *requested;
  }
  const bool kept = KeptByFinalizers(object) || *meta.deletionGracePeriodSeconds > 0;
  return kept ? Deletion::kMarked : Deletion::kRemovable;
}

ResourceStore::Deletion ResourceStore::BeginDeletion(const WriteContext& w,
                                                     const meta::v1::DeleteOptions& options,
                                                     Object& object) const {
  if (strategy().DeletesGracefully()) return BeginGracefulDeletion(w, options, object);
  meta::v1::ObjectMeta& meta = *object.object_meta();
  SetPropagation(PropagationFor(options, object, strategy()), &meta);
  if (!KeptByFinalizers(object)) return Deletion::kRemovable;
  if (!meta.deletionTimestamp) {
    // Objects with finalizers outside of metadata (namespaces, CustomResourceDefinitions) get no
    // grace period, and their generation does not change.
    const bool has_kind_finalizers = strategy().HasKindFinalizers(object);
    meta.deletionTimestamp = w.now;
    if (!has_kind_finalizers) meta.deletionGracePeriodSeconds = 0;
    // A generation of 0 means that the kind has none.
    if (!has_kind_finalizers && meta.generation > 0) ++meta.generation;
    strategy().MarkDeleting(w, object);
  } else if (meta.deletionGracePeriodSeconds.value_or(0) > 0) {
    meta.deletionTimestamp = w.now;
    meta.deletionGracePeriodSeconds = 0;
  }
  return Deletion::kMarked;
}

Result<ResourceStore::DeleteResult> ResourceStore::Remove(const WriteContext& w,
                                                          const std::string& key,
                                                          const Stored& stored, Object last,
                                                          bool* raced) {
  DeleteResult result{std::move(last), /*gone=*/true};
  if (w.dry_run) return result;
  COX_ASSIGN_OR_RETURN(storage::WriteResult removed, storage().Delete(w.ctx, key, stored.revision));
  *raced = !removed.written;
  if (*raced) return result;
  result.object.object_meta()->resourceVersion = std::to_string(removed.revision);
  if (options_.hooks != nullptr) options_.hooks->AfterDelete(w, stored.object);
  return result;
}

Result<ResourceStore::DeleteResult> ResourceStore::RemoveMarked(const WriteContext& w,
                                                                const std::string& key,
                                                                meta::v1::DeleteOptions options,
                                                                Object marked) {
  const meta::v1::ObjectMeta& meta = *marked.object_meta();
  // The precondition was true for the object before this request wrote it.
  if (options.preconditions && options.preconditions->resourceVersion) {
    options.preconditions->resourceVersion = meta.resourceVersion;
  }
  COX_ASSIGN_OR_RETURN(const storage::Revision revision,
                       ParseResourceVersion(meta.resourceVersion));
  Stored stored{.object = marked, .revision = revision, .bytes = {}, .fresh = true, .stale = false};
  for (int race = 0; race < kMaxRaces; ++race) {
    bool raced = false;
    COX_ASSIGN_OR_RETURN(DeleteResult removed, Remove(w, key, stored, stored.object, &raced));
    if (!raced) return removed;
    Result<Stored> current = Read(w.ctx, key, meta.name, /*allow_cached=*/false);
    const bool is_gone = current.ok() ? current->object.object_meta()->uid != meta.uid
                                      : current.status().Is(Reason::kNotFound);
    // Another client, usually the kubelet, removed it first.
    if (is_gone) return DeleteResult{std::move(marked), /*gone=*/true};
    COX_RETURN_IF_ERROR(current.status());
    COX_RETURN_IF_ERROR(CheckPreconditions(options, current->object));
    if (KeptByFinalizers(current->object)) {
      return DeleteResult{std::move(current->object), /*gone=*/false};
    }
    stored = *std::move(current);
  }
  return ModifiedError(resource(), meta.name);
}

Result<ResourceStore::DeleteResult> ResourceStore::Delete(const WriteContext& w,
                                                          std::string_view ns,
                                                          std::string_view name,
                                                          const meta::v1::DeleteOptions& options,
                                                          const ValidateFunc& validate) {
  const std::string key = Key(ns, name);
  for (int race = 0; race < kMaxRaces; ++race) {
    COX_ASSIGN_OR_RETURN(Stored stored, Read(w.ctx, key, name, /*allow_cached=*/false));
    COX_RETURN_IF_ERROR(CheckPreconditions(options, stored.object));
    if (validate) COX_RETURN_IF_ERROR(validate(stored.object, &stored.object));
    Object object = stored.object;
    const Deletion deletion = BeginDeletion(w, options, object);
    if (deletion == Deletion::kUnchanged) return DeleteResult{std::move(object), /*gone=*/false};
    bool raced = false;
    // Objects that are deleted gracefully are written before they are removed, so that watchers
    // receive the end of the grace period.
    const bool mark_first = strategy().DeletesGracefully() && !w.dry_run;
    if (deletion == Deletion::kRemovable && !mark_first) {
      COX_ASSIGN_OR_RETURN(DeleteResult removed, Remove(w, key, stored, object, &raced));
      if (!raced) return removed;
      continue;
    }
    COX_ASSIGN_OR_RETURN(UpdateResult marked, Write(w, key, std::move(object), stored, &raced));
    if (raced) continue;
    if (deletion == Deletion::kRemovable) {
      return RemoveMarked(w, key, options, std::move(marked.object));
    }
    return DeleteResult{std::move(marked.object), /*gone=*/false};
  }
  return ModifiedError(resource(), name);
}

}  // namespace cox::apiserver
