// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/owner.h"
#include "object/type/kind.h"

// Owner references: an object is garbage-collected when all its owners are gone. At most one owner
// is its controller (see ControllerBuilder::Owns).
//
//   apps::v1::Deployment web = ...;
//   COX_RETURN_IF_ERROR(SetControllerReference(website, web));
//   client.Create(ctx, web);
//
// Guarantees: an object has at most one controller and each owner at most once; setting an existing
//   reference again changes nothing. Owners are equal if kind, group and name are equal: an owner
//   that was deleted and recreated replaces the earlier reference.
// Errors: BadRequest for an owner that the garbage collector would not find: an owner in another
//   namespace, a namespaced owner of a cluster-scoped object, or an owner without a uid (not yet
//   created). AlreadyExists if another owner is the controller; the message names it.
// Threads: those of the structs.
//
// object/owner.h has functions on metadata: GetControllerOf(meta), IsControlledBy(meta, uid),
// RemoveOwnerReference(meta, uid).
namespace cox {

namespace internal {
Status AddOwner(const KindInfo& kind, const meta::v1::ObjectMeta& owner, meta::v1::ObjectMeta& meta,
                bool controller, bool block_owner_deletion);
}

struct OwnerOptions {
  // Foreground deletion of the owner waits for the object. If the server checks it
  // (OwnerReferencesPermissionEnforcement), this requires permission to update finalizers of the
  // owner.
  bool block_owner_deletion = true;
};

// Makes `owner` the controller of `object`.
template <class Owner, class T>
Status SetControllerReference(const Owner& owner, T& object, const OwnerOptions& options = {}) {
  return internal::AddOwner(Owner::kKind, owner.metadata, object.metadata, true,
                            options.block_owner_deletion);
}

// Adds `owner` as an owner that is not the controller. Clears the controller flag if it is set.
template <class Owner, class T>
Status SetOwnerReference(const Owner& owner, T& object,
                         const OwnerOptions& options = {.block_owner_deletion = false}) {
  return internal::AddOwner(Owner::kKind, owner.metadata, object.metadata, false,
                            options.block_owner_deletion);
}

// The reference to the object's controller; null if it has none.
template <class T>
const meta::v1::OwnerReference* ControllerOf(const T& object) {
  return GetControllerOf(object.metadata);
}

// Compares the uid, not only the name.
template <class Owner, class T>
bool IsControlledBy(const T& object, const Owner& owner)
  requires requires { owner.metadata.uid; }
{
  return !owner.metadata.uid.empty() && IsControlledBy(object.metadata, owner.metadata.uid);
}

}  // namespace cox
