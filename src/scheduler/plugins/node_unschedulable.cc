// SPDX-License-Identifier: Apache-2.0
#include "object/core/tolerations.h"
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "NodeUnschedulable";

bool ToleratesUnschedulable(const core::v1::Pod& pod) {
  core::v1::Taint taint;
  taint.key = "node.kubernetes.io/unschedulable";
  taint.effect = "NoSchedule";
  return core_rules::FindToleration(pod.spec.tolerations, taint) != nullptr;
}

// Rejects cordoned nodes, unless the Pod tolerates the unschedulable taint.
class NodeUnschedulable final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    signature.Add(ToleratesUnschedulable(*pod.pod) ? 1 : 0);
    return true;
  }
  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) const override {
    return {.status = ToleratesUnschedulable(*pod.pod) ? PluginStatus::Skip() : PluginStatus(),
            .nodes = {}};
  }
  PluginStatus Filter(const CycleState&, const PodInfo&, const Snapshot& nodes,
                      NodeIndex node) const override {
    return nodes.unschedulable(node) ? rejection_ : PluginStatus();
  }
  std::vector<EventInterest> Events() const override {
    return {{.bits = kNodeAdd | kNodeUpdateTaint,
             .hint =
                 [](const PodInfo&, const ClusterEvent& event) {
                   return event.new_node == nullptr || !event.new_node->spec.unschedulable;
                 }},
            {.bits = kPodUpdateToleration, .hint = [](const PodInfo& pod, const ClusterEvent&) {
               return ToleratesUnschedulable(*pod.pod);
             }}};
  }

 private:
  const PluginStatus rejection_ = PluginStatus::Unresolvable(kName, "node(s) were unschedulable");
};

}  // namespace

std::unique_ptr<Plugin> NewNodeUnschedulable(const PluginHandle&) {
  return std::make_unique<NodeUnschedulable>();
}

}  // namespace cox::scheduler
