// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/claim.h"

#include <utility>

#include "object/codec/json/json.h"

namespace cox::controllers::pods {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;

Claim DecideClaim(const ObjectMeta& object, const labels::Selector& selector,
                  const ObjectMeta& owner) {
  const OwnerReference* controller = GetControllerOf(object);
  const bool matches = selector.Matches(object.labels);
  if (controller != nullptr) {
    if (controller->uid != owner.uid) return Claim::kIgnore;
    if (matches) return Claim::kMine;
    // The garbage collector handles the dependents of an owner that is being deleted.
    return owner.deletionTimestamp ? Claim::kIgnore : Claim::kRelease;
  }
  const bool stays = !owner.deletionTimestamp && !object.deletionTimestamp;
  const bool here = owner.namespace_.empty() || owner.namespace_ == object.namespace_;
  return matches && stays && here ? Claim::kAdopt : Claim::kIgnore;
}

namespace {

// Completes a patch with the uid and the finalizer, which is an entry of the list `list`.
std::string Finished(std::string body, const std::string& object_uid, std::string_view list,
                     std::string_view finalizer) {
  body += R"(],"uid":)";
  json::WriteString(object_uid, &body);
  if (!finalizer.empty()) {
    body += R"(,")" + std::string(list) + R"(":[)";
    json::WriteString(finalizer, &body);
    body += "]";
  }
  return body + "}}";
}

}  // namespace

std::string AdoptionPatch(const OwnerReference& owner, const std::string& object_uid,
                          std::string_view finalizer) {
  std::string body = R"({"metadata":{"ownerReferences":[)";
  json::Encode(OwnerReference::kType, &owner, &body);
  return Finished(std::move(body), object_uid, "finalizers", finalizer);
}

std::string ReleasePatch(const std::string& owner_uid, const std::string& object_uid,
                         std::string_view finalizer) {
  std::string body = R"({"metadata":{"ownerReferences":[{"$patch":"delete","uid":)";
  json::WriteString(owner_uid, &body);
  return Finished(body + "}", object_uid, "$deleteFromPrimitiveList/finalizers", finalizer);
}

Status MayAdopt(const KindInfo& kind, const ObjectMeta& live, const ObjectMeta& cached) {
  const std::string name = cached.namespace_ + "/" + cached.name;
  if (live.uid != cached.uid) {
    return Status::Conflict("original " + std::string(kind.kind) + " " + name +
                            " is gone: got uid " + live.uid + ", wanted " + cached.uid);
  }
  if (live.deletionTimestamp) {
    return Status::Conflict(name + " has just been deleted at " +
                            live.deletionTimestamp->ToString());
  }
  return {};
}

}  // namespace cox::controllers::pods
