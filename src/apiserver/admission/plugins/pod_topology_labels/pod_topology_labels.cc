// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_topology_labels/pod_topology_labels.h"

#include "api/core/v1.h"

namespace cox::apiserver {
namespace {

using core::v1::Binding;
using core::v1::Node;
using core::v1::Pod;

// The labels that are copied from the node.
constexpr std::string_view kCopied[] = {"topology.kubernetes.io/zone",
                                        "topology.kubernetes.io/region"};

// Copies the zone and region labels of the node to a Pod that is assigned to it, so that they are
// available by the downward API. Labels set by the client are overwritten, because other components
// rely on them.
class PodTopologyLabels final : public AdmissionPlugin {
 public:
  explicit PodTopologyLabels(const Registry& registry)
      : nodes_(registry.Hub(Node::kKind).store()) {}

  std::string_view name() const override { return "PodTopologyLabels"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (request.operation != Operation::kCreate) return {};
    if (auto* pod = object.As<Pod>(); pod != nullptr && request.subresource.empty()) {
      return Copy(ctx, pod->spec.nodeName, pod->metadata.labels);
    }
    if (auto* binding = object.As<Binding>()) {
      const std::string& kind = binding->target.kind;
      if (!kind.empty() && kind != Node::kKind.kind) return {};
      return Copy(ctx, binding->target.name, binding->metadata.labels);
    }
    return {};
  }

 private:
  Status Copy(Context& ctx, const std::string& node_name, Map<std::string>& labels) const {
    if (node_name.empty()) return {};
    const Result<Object> node = nodes_.Get(ctx, "", node_name, /*from_cache=*/true);
    // A Pod may be assigned before its node is registered.
    if (node.status().Is(Reason::kNotFound)) return {};
    if (!node.ok()) return node.status();
    for (std::string_view key : kCopied) {
      const std::string* value = node->object_meta()->labels.Get(key);
      if (value != nullptr) labels[key] = *value;
    }
    return {};
  }

  const ResourceStore& nodes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewPodTopologyLabels(const AdmissionParts& parts) {
  return std::make_unique<PodTopologyLabels>(parts.registry);
}

}  // namespace cox::apiserver
