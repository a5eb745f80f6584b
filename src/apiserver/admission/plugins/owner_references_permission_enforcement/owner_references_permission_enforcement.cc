// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"

#include <algorithm>

#include "base/strings.h"
#include "object/type/gvk.h"

namespace cox::apiserver {
namespace {

using meta::v1::ObjectMeta;
using meta::v1::OwnerReference;
using References = List<OwnerReference>;

bool Blocks(const OwnerReference& reference) {
  return reference.blockOwnerDeletion.value_or(false);
}

// The references that newly block the deletion of their owner.
References NewBlocking(const References& now, const References& before) {
  References blocking;
  for (const OwnerReference& reference : now) {
    if (!Blocks(reference)) continue;
    const bool was = std::any_of(before.begin(), before.end(), [&](const OwnerReference& old) {
      return old.uid == reference.uid && Blocks(old);
    });
    if (!was) blocking.push_back(reference);
  }
  return blocking;
}

// Setting an owner reference can cause the deletion of the object, so it requires permission to
// delete the object. Blocking the deletion of the owner requires permission to update the owner's
// finalizers.
class OwnerReferencesPermissionEnforcement final : public AdmissionPlugin {
 public:
  explicit OwnerReferencesPermissionEnforcement(const AdmissionParts& parts)
      : registry_(parts.registry), authorizer_(parts.authorizer) {}

  std::string_view name() const override { return "OwnerReferencesPermissionEnforcement"; }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr || request.object->object_meta() == nullptr) return {};
    // Kubelets update the status of Pods that they may not delete.
    if (request.subresource == "status" && request.resource.kind().plural == "pods") return {};
    const References& now = request.object->object_meta()->ownerReferences;
    const ObjectMeta* old = request.old == nullptr ? nullptr : request.old->object_meta();
    const References before = old == nullptr ? References() : old->ownerReferences;
    if (now == before) return {};
    // A new object may have any owner.
    if (request.operation != Operation::kCreate) COX_RETURN_IF_ERROR(CheckDelete(request));
    for (const OwnerReference& reference : NewBlocking(now, before)) {
      COX_RETURN_IF_ERROR(CheckFinalizers(request, reference));
    }
    return {};
  }

 private:
  static Status Refused(const AdmissionRequest& request, const std::string& why) {
    return ForbiddenError(request.resource.resource(), request.name, why);
  }

  static RequestInfo AttributesOf(std::string verb, const KindInfo& kind, const std::string& ns,
                                  const std::string& name) {
    RequestInfo attributes;
    attributes.verb = std::move(verb);
    attributes.is_resource = true;
    attributes.prefix = kind.group.empty() ? "api" : "apis";
    attributes.group = kind.group;
    attributes.version = kind.version;
    attributes.resource = kind.plural;
    if (kind.namespaced) attributes.namespace_ = ns;
    attributes.name = name;
    return attributes;
  }

  Status CheckDelete(const AdmissionRequest& request) const {
    const Decision decision = authorizer_.Authorize(
        request.user, AttributesOf("delete", request.resource.kind(), request.ns, request.name));
    if (decision.allowed) return {};
    return Refused(request, "cannot set an ownerRef on a resource you can't delete: " +
                                decision.reason + ", <nil>");
  }

  Status CheckFinalizers(const AdmissionRequest& request, const OwnerReference& reference) const {
    const ServedSetPtr now = registry_.served();
    const ServedKind* const owner = KindOf(*now, reference);
    if (owner == nullptr) {
      return Refused(request,
                     "cannot set blockOwnerDeletion in this case because cannot find RESTMapping "
                     "for APIVersion " +
                         reference.apiVersion + " Kind " + reference.kind +
                         ": no matches for kind " + Quote(reference.kind) + " in version " +
                         Quote(reference.apiVersion));
    }
    RequestInfo attributes = AttributesOf("update", *owner->kind, request.ns, reference.name);
    attributes.subresource = "finalizers";
    const Decision decision = authorizer_.Authorize(request.user, attributes);
    if (decision.allowed) return {};
    return Refused(request,
                   "cannot set blockOwnerDeletion if an ownerReference refers to a resource you "
                   "can't set finalizers on: " +
                       decision.reason + ", <nil>");
  }

  // Null if no such kind is served.
  static const ServedKind* KindOf(const ServedSet& served, const OwnerReference& reference) {
    const CutResult cut = Cut(reference.apiVersion, '/');
    const std::string_view group = cut.found ? cut.before : std::string_view();
    const std::string_view version = cut.found ? cut.after : cut.before;
    return served.FindKind(group, version, reference.kind);
  }

  const Registry& registry_;
  const Authorizer& authorizer_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewOwnerReferencesPermissionEnforcement(
    const AdmissionParts& parts) {
  return std::make_unique<OwnerReferencesPermissionEnforcement>(parts);
}

}  // namespace cox::apiserver
