// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/meta/v1.h"
#include "base/result.h"
#include "object/owner.h"
#include "object/type/kind.h"

// Owner references: an object that has owners is deleted when all of them are gone, and the one of
// them that is its controller answers for it (ControllerBuilder::Owns finds the way back).
//
//   apps::v1::Deployment web = ...;
//   COX_RETURN_IF_ERROR(SetControllerReference(website, web));
//   client.Create(ctx, web);
//
// Guarantees: an object has at most one controller, and each owner once; setting again what is
//   there changes nothing. An owner is the same if kind, group and name are: one that was deleted
//   and made anew takes the place of the former.
// Errors: BadRequest for an owner that the garbage collector would not find: in another namespace,
//   or in one while the object is in none, or without a uid (it has not been created).
//   AlreadyExists if another controls the object; the message names it.
// Threads: as the structs.
//
// object/owner.h has more, for those who hold metadata: GetControllerOf(meta), IsControlledBy(meta,
// uid), RemoveOwnerReference(meta, uid).
namespace cox {

namespace internal {
Status AddOwner(const KindInfo& kind, const meta::v1::ObjectMeta& owner, meta::v1::ObjectMeta& meta,
                bool controller, bool block_owner_deletion);
}

struct OwnerOptions {
  // Whoever deletes the owner in the foreground waits for the object. To set it, one must be
  // allowed to set finalizers of the owner, where the server checks that.
  bool block_owner_deletion = true;
};

// Makes `owner` the controller of `object`.
template <class Owner, class T>
Status SetControllerReference(const Owner& owner, T& object, const OwnerOptions& options = {}) {
  return internal::AddOwner(Owner::kKind, owner.metadata, object.metadata, true,
                            options.block_owner_deletion);
}

// Makes it one of those that keep it alive. If it was the controller, it no longer is.
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

// By uid: a namesake does not count.
template <class Owner, class T>
bool IsControlledBy(const T& object, const Owner& owner)
  requires requires { owner.metadata.uid; }
{
  return !owner.metadata.uid.empty() && IsControlledBy(object.metadata, owner.metadata.uid);
}

}  // namespace cox
