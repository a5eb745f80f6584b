// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "object/owner.h"
#include "object/selector/labels.h"
#include "object/type/kind.h"

// Claims objects for an owner: adopts orphans that its selector matches, and releases objects that
// it no longer matches.
namespace cox::controllers::pods {

enum class Claim : uint8_t {
  kIgnore,   // controlled by another owner, or not matching
  kMine,     // controlled by this owner and matching
  kAdopt,    // a matching orphan
  kRelease,  // controlled by this owner, but no longer matching
};
Claim DecideClaim(const meta::v1::ObjectMeta& object, const labels::Selector& selector,
                  const meta::v1::ObjectMeta& owner);

// Strategic merge patches that add and remove the owner reference and, if given, the owner's
// finalizer. They contain the object's uid, so that a new object with the same name is not changed.
std::string AdoptionPatch(const meta::v1::OwnerReference& owner, const std::string& object_uid,
                          std::string_view finalizer = {});
std::string ReleasePatch(const std::string& owner_uid, const std::string& object_uid,
                         std::string_view finalizer = {});

// Returns OK if `live`, the owner as read from the API server, may adopt for `cached`: it has the
// same uid and is not being deleted.
Status MayAdopt(const KindInfo& kind, const meta::v1::ObjectMeta& live,
                const meta::v1::ObjectMeta& cached);

// Adopts and releases objects, and returns those that the owner controls afterwards. The cached
// owner may have been deleted and recreated, so the owner is read from the API server before the
// first adoption. The `finalizer` is added on adoption and removed on release, because an object
// without an owner would keep it forever.
// Errors: the first one, after all objects were tried. Objects that were deleted meanwhile are no
//   error.
template <class Owner, class T>
Result<std::vector<std::shared_ptr<const T>>> ClaimObjects(
    Context& ctx, Client& client, const Owner& owner, const labels::Selector& selector,
    const std::vector<std::shared_ptr<const T>>& candidates, std::string_view finalizer = {}) {
  std::vector<std::shared_ptr<const T>> mine;
  mine.reserve(candidates.size());
  Status failed;
  bool asked = false;
  Status may_adopt;
  for (const std::shared_ptr<const T>& object : candidates) {
    const Claim claim = DecideClaim(object->metadata, selector, owner.metadata);
    if (claim == Claim::kIgnore) continue;
    if (claim == Claim::kMine) {
      mine.push_back(object);
      continue;
    }
    if (claim == Claim::kAdopt && !asked) {
      asked = true;
      const Result<Owner> live = client.Get<Owner>(ctx, KeyOf(owner));
      may_adopt =
          live.ok() ? MayAdopt(Owner::kKind, live->metadata, owner.metadata) : live.status();
      if (failed.ok()) failed = may_adopt;
    }
    if (claim == Claim::kAdopt && !may_adopt.ok()) continue;
    Result<T> patched = client.PatchObject<T>(
        ctx, KeyOf(*object),
        Patch::Strategic(claim == Claim::kAdopt
                             ? AdoptionPatch(ControllerRef(Owner::kKind, owner.metadata),
                                             object->metadata.uid, finalizer)
                             : ReleasePatch(owner.metadata.uid, object->metadata.uid, finalizer)));
    if (patched.ok()) {
      if (claim == Claim::kAdopt) mine.push_back(std::make_shared<const T>(*std::move(patched)));
      continue;
    }
    // Deleted, or replaced by an object of the same name, whose own events requeue its owner.
    const Status& status = patched.status();
    if (status.Is(Reason::kNotFound) ||
        (claim == Claim::kRelease &&
         (status.Is(Reason::kInvalid) || status.Is(Reason::kConflict)))) {
      continue;
    }
    if (failed.ok()) failed = status;
  }
  if (!failed.ok()) return failed;
  return mine;
}

}  // namespace cox::controllers::pods
