// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"

#include <algorithm>

#include "api/core/v1.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kImmortal[] = {"default", "kube-system", "kube-public"};

// Rejects the creation of objects in missing or terminating namespaces, and the deletion of system
// namespaces.
class NamespaceLifecycle final : public AdmissionPlugin {
 public:
  explicit NamespaceLifecycle(const Registry& registry)
      : namespaces_(registry.Hub(core::v1::Namespace::kKind).store()) {}

  std::string_view name() const override { return "NamespaceLifecycle"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object&) const override {
    return Check(ctx, request);
  }
  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    // Creates are checked by Mutate; deletes reach only Validate.
    return request.operation == Operation::kDelete ? Check(ctx, request) : Status();
  }

 private:
  Status Check(Context& ctx, const AdmissionRequest& request) const {
    const KindInfo& kind = request.resource.kind();
    if (kind.kind == "Namespace" && kind.group.empty()) {
      const bool immortal = std::find(std::begin(kImmortal), std::end(kImmortal), request.name) !=
                            std::end(kImmortal);
      if (request.operation == Operation::kDelete && immortal) {
        return ForbiddenError(request.resource.resource(), request.name,
                              "this namespace may not be deleted");
      }
      return {};
    }
    if (!kind.namespaced || request.operation != Operation::kCreate) return {};
    COX_ASSIGN_OR_RETURN(const Object found,
                         namespaces_.Get(ctx, "", request.ns, /*from_cache=*/true));
    const auto& ns = *found.As<core::v1::Namespace>();
    if (ns.status.phase != core::v1::kNamespaceTerminating && !ns.metadata.deletionTimestamp) {
      return {};
    }
    const Status refused = ForbiddenError(request.resource.resource(), request.name,
                                          "unable to create new content in namespace " +
                                              request.ns + " because it is being terminated");
    StatusDetails details = refused.details();
    details.causes.push_back({.type = "NamespaceTerminating",
                              .message = "namespace " + request.ns + " is being terminated",
                              .field = "metadata.namespace"});
    return refused.WithDetails(std::move(details));
  }

  const ResourceStore& namespaces_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewNamespaceLifecycle(const AdmissionParts& parts) {
  return std::make_unique<NamespaceLifecycle>(parts.registry);
}

}  // namespace cox::apiserver
