// SPDX-License-Identifier: Apache-2.0
#include "object/owner.h"

#include <algorithm>

#include "object/type/equal.h"
#include "object/type/kind_names.h"

namespace cox {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

OwnerReference ControllerRef(const KindInfo& kind, const ObjectMeta& meta) {
  return {.apiVersion = ApiVersionOf(kind),
          .kind = std::string(kind.kind),
          .name = meta.name,
          .uid = meta.uid,
          .controller = true,
          .blockOwnerDeletion = true};
}

const OwnerReference* GetControllerOf(const ObjectMeta& meta) {
  auto at =
      std::find_if(meta.ownerReferences.begin(), meta.ownerReferences.end(),
                   [](const OwnerReference& owner) { return owner.controller.value_or(false); });
  return at == meta.ownerReferences.end() ? nullptr : &*at;
}

bool IsControlledBy(const ObjectMeta& meta, std::string_view owner_uid) {
  const OwnerReference* controller = GetControllerOf(meta);
  return controller != nullptr && controller->uid == owner_uid;
}

bool SetOwnerReference(ObjectMeta* meta, const OwnerReference& owner) {
  for (OwnerReference& present : meta->ownerReferences) {
    if (present.uid != owner.uid) continue;
    if (DeepEqual(present, owner)) return false;
    present = owner;
    return true;
  }
  meta->ownerReferences.push_back(owner);
  return true;
}

bool RemoveOwnerReference(ObjectMeta* meta, std::string_view owner_uid) {
  return erase_if(meta->ownerReferences,
                  [&](const OwnerReference& owner) { return owner.uid == owner_uid; }) > 0;
}

bool HasFinalizer(const ObjectMeta& meta, std::string_view finalizer) {
  return std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) !=
         meta.finalizers.end();
}

bool AddFinalizer(ObjectMeta* meta, std::string_view finalizer) {
  if (HasFinalizer(*meta, finalizer)) return false;
  meta->finalizers.emplace_back(finalizer);
  return true;
}

bool RemoveFinalizer(ObjectMeta* meta, std::string_view finalizer) {
  return erase(meta->finalizers, finalizer) > 0;
}

}  // namespace cox
