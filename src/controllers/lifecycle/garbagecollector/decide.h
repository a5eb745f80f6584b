// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "coxswain/options.h"
#include "object/type/gvk.h"

// Decides what happens to an object whose owners have changed. Pure functions.
namespace cox::controllers::gc {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// Returns the kind that a reference names. A malformed apiVersion gives a kind that is not served.
GroupVersionKind GvkOfReference(const meta::v1::OwnerReference& reference);

enum class OwnerState : uint8_t {
  kSolid,    // the owner exists
  kAbsent,   // the owner does not exist, or its name is used by another object
  kWaiting,  // foreground deletion: the owner waits for its dependents
};

struct OwnerStatus {
  std::string uid;
  OwnerState state = OwnerState::kSolid;
};

struct Action {
  enum class What : uint8_t {
    kNothing,
    kRemoveOwners,  // remove absent and waiting owners; a solid owner remains
    kDelete,
  };
  What what = What::kNothing;
  std::vector<std::string> owners;  // uids to remove
  Propagation propagation = Propagation::kBackground;

  bool operator==(const Action&) const = default;
};

// `meta` is the object as read from the API server. `has_dependents`: the object owns others.
Action Decide(const std::vector<OwnerStatus>& owners, const meta::v1::ObjectMeta& meta,
              bool has_dependents);

// --- Patches. The uid in each patch is a precondition.

// Removes these owners. Fails with a conflict if the object has changed since it was read.
Patch RemoveOwners(const meta::v1::ObjectMeta& meta, const std::vector<std::string>& uids);
// Removes an owner without reading the object first, for kinds that support strategic merge patch.
Patch RemoveOwnerUnread(std::string_view uid, std::string_view owner_uid);
// Sets blockOwnerDeletion to false on all owners, which breaks cycles of objects that wait for each
// other.
Patch Unblock(const meta::v1::ObjectMeta& meta);

}  // namespace cox::controllers::gc
