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

// The server says that there is no such object. One that does not know the path (the kind is not
// served, by this server, now) names none, and says nothing about it.
bool IsGone(const Status& status) {
  return status.Is(Reason::kNotFound) && !status.details().name.empty();
}
Status NullIfGone(const Status& status) { return IsGone(status) ? Status() : status; }

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
  const auto view = graph_.Look(uid);
  if (!view || !view->observed) return Outcome::kDone;
  if (view->deleting_dependents) {
    COX_RETURN_IF_ERROR(AwaitDependents(ctx, view->identity));
    return Outcome::kDone;
  }
  if (view->deleting || view->settled) return Outcome::kDone;
  const Result<ObjectMeta> meta = Read(ctx, view->identity);
  if (IsGone(meta.status())) {
    tell_(graph_.Forget(uid));
    return Outcome::kDone;
  }
  if (!meta.ok()) return meta.status();
  if (meta->deletionTimestamp) return Outcome::kDone;  // the informer will say so
  COX_ASSIGN_OR_RETURN(const Judgement judgement, Judge(ctx, view->identity, *meta));
  if (judgement.invalid) return Outcome::kDone;
  const Action action = Decide(judgement.owners, *meta, view->has_dependents);
  COX_RETURN_IF_ERROR(Act(ctx, view->identity, *meta, action));
  const bool stays = action.what != Action::What::kDelete;
  return stays && judgement.unseen ? Outcome::kLookAgain : Outcome::kDone;
}

Result<Collector::Judgement> Collector::Judge(Context& ctx, const Identity& identity,
                                              const ObjectMeta& meta) {
  Judgement judgement;
  for (const OwnerReference& reference : meta.ownerReferences) {
    COX_ASSIGN_OR_RETURN(JudgedOwner owner, JudgeOwner(ctx, identity, reference, judgement));
    judgement.owners.push_back(std::move(owner));
  }
  return judgement;
}

Result<JudgedOwner> Collector::JudgeOwner(Context& ctx, const Identity& dependent,
                                          const OwnerReference& reference, Judgement& judgement) {
  Identity owner{.gvk = GvkOfReference(reference),
                 .key = {dependent.key.ns, reference.name},
                 .uid = reference.uid};
  const Result<Resource> found = kinds_.Find(owner.gvk);
  if (!found.ok() && WasSeenToGo(owner)) {
    return JudgedOwner{.uid = reference.uid, .state = OwnerState::kAbsent};
  }
  COX_ASSIGN_OR_RETURN(const Resource resource, found);
  if (!resource.namespaced) owner.key.ns.clear();
  JudgedOwner judged{.uid = reference.uid, .state = OwnerState::kSolid};
  const auto view = graph_.Look(owner.uid);
  const bool seen = view && view->observed;
  // A namespaced owner is in the namespace of its dependent, or it is no owner of it.
  if (resource.namespaced && dependent.key.ns.empty()) {
    ReportInvalid(dependent, owner);
    judgement.invalid = true;
    return judged;
  }
  if (seen && resource.namespaced && view->identity.key.ns != owner.key.ns) {
    ReportInvalid(dependent, owner);
  }
  const bool in_place = seen && view->identity.key == owner.key &&
                        view->identity.gvk.group == owner.gvk.group &&
                        view->identity.gvk.kind == owner.gvk.kind;
  // Where the graph is behind and the owner is gone, its end is still to come, and is told then.
  // That it waits for its dependents is for the server to say: somebody may have asked since that
  // they be left.
  if (in_place && !view->deleting_dependents) return judged;
  COX_ASSIGN_OR_RETURN(judged.state, AskForOwner(ctx, owner));
  if (judged.state == OwnerState::kSolid && !in_place) judgement.unseen = true;
  return judged;
}

Result<OwnerState> Collector::AskForOwner(Context& ctx, const Identity& owner) {
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
      return NullIfGone(PatchIt(ctx, identity, RemoveOwners(meta, action.owners)));
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
    // A dependent of it that waits for its own dependents may wait for this one: nobody would end.
    const auto dependents = graph_.DependentsOf(identity.uid);
    const bool circle = std::any_of(dependents.begin(), dependents.end(),
                                    [](const auto& one) { return one.deleting_dependents; });
    if (circle) {
      const Result<Object> unblocked =
          client_.PatchObject(ctx, resource, identity.key, Unblock(meta));
      if (!unblocked.ok()) return NullIfGone(unblocked.status());
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
  return NullIfGone(status);
}

// In the foreground: asks all dependents to go, and lets the object go when none blocks it.
Status Collector::AwaitDependents(Context& ctx, const Identity& identity) {
  Effects effects;
  bool blocked = false;
  for (const Graph::Dependent& dependent : graph_.DependentsOf(identity.uid)) {
    blocked = blocked || dependent.blocks;
    if (!dependent.deleting) effects.to_delete.push_back(dependent.identity.uid);
  }
  tell_(effects);
  if (blocked) return {};
  return RemoveFinalizerOf(ctx, identity, kForegroundFinalizer);
}

Status Collector::AttemptToOrphan(Context& ctx, const std::string& uid) {
  const auto view = graph_.Look(uid);
  if (!view || !view->observed || !view->orphaning) return {};
  for (const Graph::Dependent& dependent : graph_.DependentsOf(uid)) {
    COX_RETURN_IF_ERROR(RemoveOwnerOf(ctx, dependent.identity, uid));
  }
  return RemoveFinalizerOf(ctx, view->identity, kOrphanFinalizer);
}

Status Collector::RemoveOwnerOf(Context& ctx, const Identity& dependent,
                                const std::string& owner_uid) {
  if (Scheme::Builtin().FindKind(dependent.gvk) != nullptr) {
    return NullIfGone(PatchIt(ctx, dependent, RemoveOwnerUnread(dependent.uid, owner_uid)));
  }
  const Result<ObjectMeta> meta = Read(ctx, dependent);
  if (!meta.ok()) return NullIfGone(meta.status());
  return NullIfGone(PatchIt(ctx, dependent, RemoveOwners(*meta, {owner_uid})));
}

Status Collector::RemoveFinalizerOf(Context& ctx, const Identity& identity,
                                    std::string_view finalizer) {
  Result<ObjectMeta> meta = Read(ctx, identity);
  if (!meta.ok()) return NullIfGone(meta.status());
  if (!meta->deletionTimestamp || !RemoveFinalizer(&*meta, finalizer)) return {};
  Value::Array left;
  for (const std::string& one : meta->finalizers) left.emplace_back(one);
  const Patch patch = Patch::Merge(json::Write(Value::MakeObject(
      {{"metadata", Value::MakeObject({{"uid", meta->uid},
                                       {"resourceVersion", meta->resourceVersion},
                                       {"finalizers", Value(std::move(left))}})}})));
  return NullIfGone(PatchIt(ctx, identity, patch));
}

Status Collector::PatchIt(Context& ctx, const Identity& identity, const Patch& patch) {
  COX_ASSIGN_OR_RETURN(const Resource resource, kinds_.Find(identity.gvk));
  return client_.PatchObject(ctx, resource, identity.key, patch).status();
}

// Whether its kind has namespaces is not known any more.
bool Collector::WasSeenToGo(const Identity& owner) {
  Identity of_cluster = owner;
  of_cluster.key.ns.clear();
  MutexLock lock(mu_);
  return seen_to_go_.Find(AbsentKey(owner)) != nullptr ||
         seen_to_go_.Find(AbsentKey(of_cluster)) != nullptr;
}

void Collector::NoteGone(const Identity& owner) {
  if (Scheme::Builtin().FindKind(owner.gvk) != nullptr) return;  // those are always served
  MutexLock lock(mu_);
  seen_to_go_.Put(AbsentKey(owner), true);
}

}  // namespace cox::controllers::gc
