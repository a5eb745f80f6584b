// SPDX-License-Identifier: Apache-2.0
#include "coxswain/owner.h"

#include <algorithm>

#include "object/type/gvk.h"
#include "object/type/kind_names.h"

namespace cox::internal {
namespace {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

Status CheckOwner(const ObjectMeta& owner, const ObjectMeta& meta) {
  if (owner.uid.empty()) {
    return Status::BadRequest("owner \"" + owner.name + "\" has no uid: it has not been created");
  }
  // A cluster-scoped owner may own any object.
  if (owner.namespace_.empty() || owner.namespace_ == meta.namespace_) return {};
  if (meta.namespace_.empty()) {
    return Status::BadRequest(
        "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace " +
        owner.namespace_);
  }
  return Status::BadRequest("cross-namespace owner references are disallowed, owner's namespace " +
                            owner.namespace_ + ", object's namespace " + meta.namespace_);
}

// The API version may differ.
bool SameOwner(const OwnerReference& a, const OwnerReference& b) {
  const Result<GroupVersion> group_a = GroupVersion::Parse(a.apiVersion);
  const Result<GroupVersion> group_b = GroupVersion::Parse(b.apiVersion);
  return group_a.ok() && group_b.ok() && group_a->group == group_b->group && a.kind == b.kind &&
         a.name == b.name;
}

}  // namespace

Status AddOwner(const KindInfo& kind, const ObjectMeta& owner, ObjectMeta& meta, bool controller,
                bool block_owner_deletion) {
  COX_RETURN_IF_ERROR(CheckOwner(owner, meta));
  OwnerReference reference{.apiVersion = ApiVersionOf(kind),
                           .kind = std::string(kind.kind),
                           .name = owner.name,
                           .uid = owner.uid};
  if (controller) reference.controller = true;
  if (controller || block_owner_deletion) reference.blockOwnerDeletion = block_owner_deletion;
  const OwnerReference* present = GetControllerOf(meta);
  if (controller && present != nullptr && !SameOwner(*present, reference)) {
    return Status::AlreadyExists("object \"" + meta.name + "\" is already controlled by " +
                                 present->kind + " \"" + present->name + "\"");
  }
  List<OwnerReference>& owners = meta.ownerReferences;
  const auto same = std::find_if(owners.begin(), owners.end(), [&](const OwnerReference& other) {
    return SameOwner(other, reference);
  });
  if (same == owners.end()) {
    owners.push_back(std::move(reference));
  } else {
    *same = std::move(reference);
  }
  return {};
}

}  // namespace cox::internal
