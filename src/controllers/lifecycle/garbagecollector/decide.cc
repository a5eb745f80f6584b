// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/garbagecollector/decide.h"

#include <algorithm>

#include "object/codec/json/json.h"
#include "object/owner.h"

namespace cox::controllers::gc {
namespace {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

Patch OwnersPatch(const ObjectMeta& meta, const List<OwnerReference>& owners) {
  Value::Array list;
  for (const OwnerReference& owner : owners) list.push_back(json::ToValue(owner));
  return Patch::Merge(json::Write(Value::MakeObject(
      {{"metadata", Value::MakeObject({{"uid", meta.uid},
                                       {"resourceVersion", meta.resourceVersion},
                                       {"ownerReferences", Value(std::move(list))}})}})));
}

}  // namespace

GroupVersionKind GvkOfReference(const OwnerReference& reference) {
  const auto gvk = GroupVersionKind::Parse(reference.apiVersion, reference.kind);
  return gvk.ok() ? *gvk : GroupVersionKind{reference.apiVersion, "", reference.kind};
}

Action Decide(const std::vector<OwnerStatus>& owners, const ObjectMeta& meta, bool has_dependents) {
  if (owners.empty()) return {};
  const auto is = [](OwnerState state) {
    return [state](const OwnerStatus& owner) { return owner.state == state; };
  };
  // A solid owner keeps the object. The other owners are removed, so that they do not wait for it.
  if (std::any_of(owners.begin(), owners.end(), is(OwnerState::kSolid))) {
    Action action;
    for (const OwnerStatus& owner : owners) {
      if (owner.state != OwnerState::kSolid) action.owners.push_back(owner.uid);
    }
    if (!action.owners.empty()) action.what = Action::What::kRemoveOwners;
    return action;
  }
  Action action{.what = Action::What::kDelete};
  // The owner that waits for the object waits for the object's dependents too.
  if (has_dependents && std::any_of(owners.begin(), owners.end(), is(OwnerState::kWaiting))) {
    action.propagation = Propagation::kForeground;
    return action;
  }
  // A propagation policy that was requested earlier is stored in the finalizers.
  if (HasFinalizer(meta, kOrphanFinalizer)) {
    action.propagation = Propagation::kOrphan;
  } else if (HasFinalizer(meta, kForegroundFinalizer)) {
    action.propagation = Propagation::kForeground;
  }
  return action;
}

Patch RemoveOwners(const ObjectMeta& meta, const std::vector<std::string>& uids) {
  List<OwnerReference> left = meta.ownerReferences;
  erase_if(left, [&uids](const OwnerReference& owner) {
    return std::find(uids.begin(), uids.end(), owner.uid) != uids.end();
  });
  return OwnersPatch(meta, left);
}

Patch RemoveOwnerUnread(std::string_view uid, std::string_view owner_uid) {
  Value::Array list;
  list.push_back(Value::MakeObject({{"$patch", "delete"}, {"uid", std::string(owner_uid)}}));
  return Patch::Strategic(json::Write(Value::MakeObject(
      {{"metadata", Value::MakeObject({{"uid", std::string(uid)},
                                       {"ownerReferences", Value(std::move(list))}})}})));
}

Patch Unblock(const ObjectMeta& meta) {
  List<OwnerReference> owners = meta.ownerReferences;
  for (OwnerReference& owner : owners) owner.blockOwnerDeletion = false;
  return OwnersPatch(meta, owners);
}

}  // namespace cox::controllers::gc
