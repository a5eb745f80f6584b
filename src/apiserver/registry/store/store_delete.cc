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

bool ResourceStore::BeginDeletion(const WriteContext& w, meta::v1::DeleteOptions& options,
                                  Object& object) const {
  meta::v1::ObjectMeta& meta = *object.object_meta();
  SetPropagation(PropagationFor(options, object, strategy()), &meta);
  if (options.gracePeriodSeconds && *options.gracePeriodSeconds < 0) options.gracePeriodSeconds = 1;

  const bool graceful = strategy().GracefulDeletion(object, &options);
  const int64_t grace = graceful ? options.gracePeriodSeconds.value_or(0) : 0;
  if (meta.deletionTimestamp) {
    // Already being deleted: the grace period can only become shorter.
    const int64_t left = meta.deletionGracePeriodSeconds.value_or(0);
    if (graceful && options.gracePeriodSeconds && grace < left) {
      meta.deletionTimestamp =
          *meta.deletionTimestamp + Duration::Seconds(-left) + Duration::Seconds(grace);
      meta.deletionGracePeriodSeconds = grace;
    } else if (!graceful && left > 0) {
      meta.deletionTimestamp = w.now;
      meta.deletionGracePeriodSeconds = 0;
    }
  } else if (graceful || KeptByFinalizers(object)) {
    // Objects with finalizers outside of metadata (namespaces, CustomResourceDefinitions) get no
    // grace period, and their generation does not change.
    const bool holds = strategy().HasKindFinalizers(object);
    meta.deletionTimestamp = w.now + Duration::Seconds(grace);
    if (!holds) meta.deletionGracePeriodSeconds = grace;
    // A generation of 0 means that the kind has none.
    if (!holds && meta.generation > 0) ++meta.generation;
    strategy().MarkDeleting(w, object);
  }
  return KeptByFinalizers(object) || meta.deletionGracePeriodSeconds.value_or(0) > 0;
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

Result<ResourceStore::DeleteResult> ResourceStore::Delete(const WriteContext& w,
                                                          std::string_view ns,
                                                          std::string_view name,
                                                          meta::v1::DeleteOptions options,
                                                          const ValidateFunc& validate) {
  const std::string key = Key(ns, name);
  for (int race = 0; race < kMaxRaces; ++race) {
    COX_ASSIGN_OR_RETURN(Stored stored, Read(w.ctx, key, name, /*allow_cached=*/false));
    COX_RETURN_IF_ERROR(CheckPreconditions(options, stored.object));
    if (validate) COX_RETURN_IF_ERROR(validate(stored.object, &stored.object));
    Object object = stored.object;
    meta::v1::DeleteOptions asked = options;
    bool raced = false;
    const bool stays = BeginDeletion(w, asked, object);
    // If the grace period is cut short, write that first, so that watchers receive it before the
    // deletion.
    const int64_t before = stored.object.object_meta()->deletionGracePeriodSeconds.value_or(0);
    const bool cut_short = before > 0 && !w.dry_run;
    if (!stays && cut_short) {
      COX_ASSIGN_OR_RETURN(UpdateResult cut, Write(w, key, std::move(object), stored, &raced));
      continue;
    }
    if (!stays) {
      COX_ASSIGN_OR_RETURN(DeleteResult gone, Remove(w, key, stored, object, &raced));
      if (!raced) return gone;
      continue;
    }
    COX_ASSIGN_OR_RETURN(UpdateResult marked, Write(w, key, std::move(object), stored, &raced));
    if (!raced) return DeleteResult{std::move(marked.object), /*gone=*/false};
  }
  return ModifiedError(resource(), name);
}

}  // namespace cox::apiserver
