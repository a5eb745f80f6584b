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

// Which of the objects that could be an owner's are: it takes orphans that its selector matches,
// and lets go those that it no longer matches.
namespace cox::controllers::pods {

enum class Claim : uint8_t {
  kIgnore,   // another's, or none of its business
  kMine,     // controlled by it, and matches
  kAdopt,    // an orphan that matches
  kRelease,  // controlled by it, but does not match any more
};
Claim DecideClaim(const meta::v1::ObjectMeta& object, const labels::Selector& selector,
                  const meta::v1::ObjectMeta& owner);

// Strategic merge patches that add and remove the reference to the owner and, where it has one, the
// owner's finalizer. They name the object's uid, so that a namesake is not touched.
std::string AdoptionPatch(const meta::v1::OwnerReference& owner, const std::string& object_uid,
                          std::string_view finalizer = {});
std::string ReleasePatch(const std::string& owner_uid, const std::string& object_uid,
                         std::string_view finalizer = {});

// Whether `live`, the owner as the server has it, may adopt for `cached`: it is the same object and
// stays.
Status MayAdopt(const KindInfo& kind, const meta::v1::ObjectMeta& live,
                const meta::v1::ObjectMeta& cached);

// Adopts and releases, and returns what is the owner's then. An owner that was deleted and made
// anew, of which the cache does not know yet, must not adopt: so before the first adoption the
// server is asked. With a `finalizer`, what is the owner's has it and what it lets go has not: who
// has no owner any more would wait for it for ever.
// Errors: the first; the others were tried all the same. What is gone meanwhile is no error.
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
    // Gone, or a namesake is there now: whoever that belongs to will hear of it.
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
