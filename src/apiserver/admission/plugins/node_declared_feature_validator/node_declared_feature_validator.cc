// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/node_declared_feature_validator/node_declared_feature_validator.h"

#include "api/core/v1.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;

// Rejects the resize of a Pod whose node does not exist.
class NodeDeclaredFeatureValidator final : public AdmissionPlugin {
 public:
  explicit NodeDeclaredFeatureValidator(const Registry& registry)
      : nodes_(registry.Hub(core::v1::Node::kKind)) {}

  std::string_view name() const override { return "NodeDeclaredFeatureValidator"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.operation != Operation::kUpdate || request.subresource != "resize") return {};
    const Pod* pod = request.object->As<Pod>();
    if (pod == nullptr || pod->spec.nodeName.empty()) return {};
    if (request.old != nullptr && DeepEqual(pod->spec, request.old->As<Pod>()->spec)) return {};
    Result<Object> node = nodes_.store().Get(ctx, "", pod->spec.nodeName, /*from_cache=*/true);
    if (!node.status().Is(Reason::kNotFound)) return node.status();
    return ForbiddenError(request.resource.resource(), request.name,
                          "node " + Quote(pod->spec.nodeName) + " not found");
  }

 private:
  const ServedResource& nodes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewNodeDeclaredFeatureValidator(
    const AdmissionParts& parts) {
  return std::make_unique<NodeDeclaredFeatureValidator>(parts.registry);
}

}  // namespace cox::apiserver
