// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "NodeName";

// Matches spec.nodeName.
class NodeName final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    signature.Add(pod.pod->spec.nodeName);
    return true;
  }
  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) const override {
    return {.status = pod.pod->spec.nodeName.empty() ? PluginStatus::Skip() : PluginStatus(),
            .nodes = {}};
  }
  PluginStatus Filter(const CycleState&, const PodInfo& pod, const Snapshot& nodes,
                      NodeIndex node) const override {
    return pod.pod->spec.nodeName == nodes.name(node) ? PluginStatus() : rejection_;
  }
  std::vector<EventInterest> Events() const override {
    return {{.bits = kNodeAdd, .hint = [](const PodInfo& pod, const ClusterEvent& event) {
               return event.new_node == nullptr || pod.pod->spec.nodeName.empty() ||
                      event.new_node->metadata.name == pod.pod->spec.nodeName;
             }}};
  }

 private:
  const PluginStatus rejection_ =
      PluginStatus::Unresolvable(kName, "node(s) didn't match the requested node name");
};

}  // namespace

std::unique_ptr<Plugin> NewNodeName(const PluginHandle&) { return std::make_unique<NodeName>(); }

}  // namespace cox::scheduler
