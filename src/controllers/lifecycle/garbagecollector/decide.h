// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/meta/v1.h"
#include "coxswain/options.h"
#include "object/type/gvk.h"

// What becomes of an object whose owners have changed. Pure functions.
namespace cox::controllers::gc {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

// What a reference names. A malformed apiVersion gives a kind that nobody serves.
GroupVersionKind GvkOfReference(const meta::v1::OwnerReference& reference);

enum class OwnerState : uint8_t {
  kSolid,    // it is there
  kAbsent,   // it is not, or is another of that name
  kWaiting,  // it is being deleted in the foreground: waits for its dependents
};

struct JudgedOwner {
  std::string uid;
  OwnerState state = OwnerState::kSolid;
};

struct Action {
  enum class What : uint8_t {
    kNothing,
    kRemoveOwners,  // those that do not count any more; the others keep it
    kDelete,
  };
  What what = What::kNothing;
  std::vector<std::string> owners;  // uids to remove
  Propagation propagation = Propagation::kBackground;

  bool operator==(const Action&) const = default;
};

// `meta`: the object as the server has it. `has_dependents`: it owns something itself.
Action Decide(const std::vector<JudgedOwner>& owners, const meta::v1::ObjectMeta& meta,
              bool has_dependents);

// --- Patches. Each holds only for the very object it was made for.

// Without those owners; depends on the version that was read.
Patch RemoveOwners(const meta::v1::ObjectMeta& meta, const std::vector<std::string>& uids);
// The same without having read it, for kinds whose lists the server merges by key.
Patch RemoveOwnerUnread(std::string_view uid, std::string_view owner_uid);
// No owner waits for it any more: breaks a circle of objects that wait for each other.
Patch Unblock(const meta::v1::ObjectMeta& meta);

}  // namespace cox::controllers::gc
