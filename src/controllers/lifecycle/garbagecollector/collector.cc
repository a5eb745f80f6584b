// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/collector.h"

#include <algorithm>

#include "object/codec/json/json.h"
#include "object/owner.h"
#include "object/scheme.h"

namespace cox::controllers::gc {
namespace {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

Result<ObjectMeta> MetaOf(const Object& object) {
  if (const ObjectMeta* meta = object.object_meta()) return *meta;
  const Value* meta = object.is_typed() ? nullptr : object.value().Find("metadata");
  if (meta == nullptr) return Status::Internal("an object without metadata");
  return json::FromValue<ObjectMeta>(*meta);
}

// The API server confirms that the object does not exist. A NotFound without a name in its details
// means that the path is unknown (the kind is not served now) and proves nothing.
bool IsGone(const Status& status) {
  return status.Is(Reason::kNotFound) && !status.details().name.empty();
}
Status NullIfNotFound(const Status& status) { return IsGone(status) ? Status() : status; }

std::string AbsentKey(const Identity& owner) {
  std::string key;
  for (const std::string* part :
       {&owner.gvk.group, &owner.gvk.kind, &owner.key.ns, &owner.key.name, &owner.uid}) {
    key.append(*part) += '/';
  }
  return key;
}

}  // namespace

Result<ObjectMeta> Collector::Read(Context& ctx, const Identity& identity) {
  COX_ASSIGN_OR_RETURN(const Resource resource, kinds_.Find(identity.gvk));
  const ObjectKey key = {resource.namespaced ? identity.key.ns : "", identity.key.name};
  COX_ASSIGN_OR_RETURN(const Object object, client_.Get(ctx, resource, key));
  COX_ASSIGN_OR_RETURN(ObjectMeta meta, MetaOf(object));
  if (meta.uid != identity.uid) {
    return Status(Reason::kNotFound, "another object has that name", {.name = key.name});
  }
  return meta;
}

Result<Collector::Outcome> Collector::AttemptToDelete(Context& ctx, const std::string& uid) {
  const auto view = graph_.FindNode(uid);
  if (!view || !view->observed) return Outcome::kDone;
  if (view->deleting_dependents) {
    COX_RETURN_IF_ERROR(AwaitDependents(ctx, view->identity));
    return Outcome::kDone;
  }
  if (view->deleting || view->settled) return Outcome::kDone;
  const Result<ObjectMeta> meta = Read(ctx, view->identity);
  if (IsGone(meta.status())) {
    notify_(graph_.Forget(uid));
    return Outcome::kDone;
  }
  if (!meta.ok()) return meta.status();
  if (meta->deletionTimestamp) return Outcome::kDone;  // the informer delivers the update
  COX_ASSIGN_OR_RETURN(const OwnerStatuses classified_owners,
                       ClassifyOwners(ctx, view->identity, *meta));
  if (classified_owners.invalid) return Outcome::kDone;
  const Action action = Decide(classified_owners.owners, *meta, view->has_dependents);
  COX_RETURN_IF_ERROR(Act(ctx, view->identity, *meta, action));
  const bool stays = action.what != Action::What::kDelete;
  return stays && classified_owners.unseen ? Outcome::kRetry : Outcome::kDone;
}

Result<Collector::OwnerStatuses> Collector::ClassifyOwners(Context& ctx, const Identity& identity,
                                                           const ObjectMeta& meta) {
  OwnerStatuses classified_owners;
  for (const OwnerReference& reference : meta.ownerReferences) {
    COX_ASSIGN_OR_RETURN(OwnerStatus owner,
                         ClassifyOwner(ctx, identity, reference, classified_owners));
    classified_owners.owners.push_back(std::move(owner));
  }
  return classified_owners;
}

Result<OwnerStatus> Collector::ClassifyOwner(Context& ctx, const Identity& dependent,
                                             const OwnerReference& reference,
                                             OwnerStatuses& classified_owners) {
  Identity owner{.gvk = GvkOfReference(reference),
                 .key = {dependent.key.ns, reference.name},
                 .uid = reference.uid};
  const Result<Resource> found = kinds_.Find(owner.gvk);
  if (!found.ok() && WasSeenToGo(owner)) {
    return OwnerStatus{.uid = reference.uid, .state = OwnerState::kAbsent};
  }
  COX_ASSIGN_OR_RETURN(const Resource resource, found);
  if (!resource.namespaced) owner.key.ns.clear();
  OwnerStatus owner_status{.uid = reference.uid, .state = OwnerState::kSolid};
  const auto view = graph_.FindNode(owner.uid);
  const bool seen = view && view->observed;
  // A namespaced owner must be in the namespace of its dependent.
  if (resource.namespaced && dependent.key.ns.empty()) {
    ReportInvalid(dependent, owner);
    classified_owners.invalid = true;
    return owner_status;
  }
  if (seen && resource.namespaced && view->identity.key.ns != owner.key.ns) {
    ReportInvalid(dependent, owner);
  }
  const bool in_place = seen && view->identity.key == owner.key &&
                        view->identity.gvk.group == owner.gvk.group &&
                        view->identity.gvk.kind == owner.gvk.kind;
  // If the graph is stale and the owner is already gone, its delete event requeues the dependent. A
  // pending foreground deletion is confirmed with the API server, because it may have been changed
  // to orphaning.
  if (in_place && !view->deleting_dependents) return owner_status;
  COX_ASSIGN_OR_RETURN(owner_status.state, GetOwnerState(ctx, owner));
  if (owner_status.state == OwnerState::kSolid && !in_place) classified_owners.unseen = true;
  return owner_status;
}

Result<OwnerState> Collector::GetOwnerState(Context& ctx, const Identity& owner) {
  const std::string key = AbsentKey(owner);
  {
    MutexLock lock(mu_);
    if (absent_.Find(key) != nullptr) return OwnerState::kAbsent;
  }
  const Result<ObjectMeta> meta = Read(ctx, owner);
  if (IsGone(meta.status())) {
    MutexLock lock(mu_);
    absent_.Put(key, true);
    return OwnerState::kAbsent;
  }
  if (!meta.ok()) return meta.status();
  const bool waiting = meta->deletionTimestamp && HasFinalizer(*meta, kForegroundFinalizer);
  return waiting ? OwnerState::kWaiting : OwnerState::kSolid;
}

void Collector::ReportInvalid(const Identity& dependent, const Identity& owner) {
  events_.RecordAbout(
      {.gvk = dependent.gvk, .key = dependent.key, .uid = dependent.uid, .resource_version = ""},
      EventKind::kWarning, "OwnerRefInvalidNamespace", "CollectingGarbage",
      "ownerRef " + owner.ToString() + " does not exist in namespace \"" + dependent.key.ns + "\"");
}

Status Collector::Act(Context& ctx, const Identity& identity, const ObjectMeta& meta,
                      const Action& action) {
  switch (action.what) {
    case Action::What::kNothing:
      return {};
    case Action::What::kRemoveOwners:
      COX_V(ctx.log(), 2, "Removing owners that are gone", {"object", identity.ToString()});
      return NullIfNotFound(PatchIt(ctx, identity, RemoveOwners(meta, action.owners)));
    case Action::What::kDelete:
      return Delete(ctx, identity, meta, action.propagation);
  }
  return {};
}

Status Collector::Delete(Context& ctx, const Identity& identity, const ObjectMeta& meta,
                         Propagation propagation) {
  COX_ASSIGN_OR_RETURN(const Resource resource, kinds_.Find(identity.gvk));
  std::string version = meta.resourceVersion;
  if (propagation == Propagation::kForeground) {
    // A dependent that waits for its own dependents may wait for this object: break the cycle.
    const auto dependents = graph_.DependentsOf(identity.uid);
    const bool circle = std::any_of(dependents.begin(), dependents.end(),
                                    [](const auto& one) { return one.deleting_dependents; });
    if (circle) {
      const Result<Object> unblocked =
          client_.PatchObject(ctx, resource, identity.key, Unblock(meta));
      if (!unblocked.ok()) return NullIfNotFound(unblocked.status());
      COX_ASSIGN_OR_RETURN(const ObjectMeta now, MetaOf(*unblocked));
      version = now.resourceVersion;
    }
  }
  COX_V(ctx.log(), 2, "Deleting item", {"object", identity.ToString()});
  const Status status =
      client_
          .Delete(ctx, resource, identity.key,
                  {.propagation = propagation, .uid = identity.uid, .resource_version = version})
          .status();
  return NullIfNotFound(status);
}

// Foreground deletion: enqueues the dependents and removes the finalizer when none blocks.
Status Collector::AwaitDependents(Context& ctx, const Identity& identity) {
  Effects effects;
  bool blocked = false;
  for (const Graph::Dependent& dependent : graph_.DependentsOf(identity.uid)) {
    blocked = blocked || dependent.blocks;
    if (!dependent.deleting) effects.to_delete.push_back(dependent.identity.uid);
  }
  notify_(effects);
  if (blocked) return {};
  return RemoveFinalizerOf(ctx, identity, kForegroundFinalizer);
}

Status Collector::AttemptToOrphan(Context& ctx, const std::string& uid) {
  const auto view = graph_.FindNode(uid);
  if (!view || !view->observed || !view->orphaning) return {};
  for (const Graph::Dependent& dependent : graph_.DependentsOf(uid)) {
    COX_RETURN_IF_ERROR(RemoveOwnerOf(ctx, dependent.identity, uid));
  }
  return RemoveFinalizerOf(ctx, view->identity, kOrphanFinalizer);
}

Status Collector::RemoveOwnerOf(Context& ctx, const Identity& dependent,
                                const std::string& owner_uid) {
  if (Scheme::Builtin().FindKind(dependent.gvk) != nullptr) {
    return NullIfNotFound(PatchIt(ctx, dependent, RemoveOwnerUnread(dependent.uid, owner_uid)));
  }
  const Result<ObjectMeta> meta = Read(ctx, dependent);
  if (!meta.ok()) return NullIfNotFound(meta.status());
  return NullIfNotFound(PatchIt(ctx, dependent, RemoveOwners(*meta, {owner_uid})));
}

Status Collector::RemoveFinalizerOf(Context& ctx, const Identity& identity,
                                    std::string_view finalizer) {
  Result<ObjectMeta> meta = Read(ctx, identity);
  if (!meta.ok()) return NullIfNotFound(meta.status());
  if (!meta->deletionTimestamp || !RemoveFinalizer(&*meta, finalizer)) return {};
  Value::Array left;
  for (const std::string& one : meta->finalizers) left.emplace_back(one);
  const Patch patch = Patch::Merge(json::Write(Value::MakeObject(
      {{"metadata", Value::MakeObject({{"uid", meta->uid},
                                       {"resourceVersion", meta->resourceVersion},
                                       {"finalizers", Value(std::move(left))}})}})));
  return NullIfNotFound(PatchIt(ctx, identity, patch));
}

Status Collector::PatchIt(Context& ctx, const Identity& identity, const Patch& patch) {
  COX_ASSIGN_OR_RETURN(const Resource resource, kinds_.Find(identity.gvk));
  return client_.PatchObject(ctx, resource, identity.key, patch).status();
}

// The kind is no longer served, so its scope is unknown: checks both scopes.
bool Collector::WasSeenToGo(const Identity& owner) {
  Identity of_cluster = owner;
  of_cluster.key.ns.clear();
  MutexLock lock(mu_);
  return seen_to_go_.Find(AbsentKey(owner)) != nullptr ||
         seen_to_go_.Find(AbsentKey(of_cluster)) != nullptr;
}

void Collector::RecordAbsent(const Identity& owner) {
  if (Scheme::Builtin().FindKind(owner.gvk) != nullptr) return;  // built-in kinds are always served
  MutexLock lock(mu_);
  seen_to_go_.Put(AbsentKey(owner), true);
}

}  // namespace cox::controllers::gc
