// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

constexpr std::string_view kName = "NodePorts";

using core_rules::AnyConflict;

// Rejects nodes whose host ports conflict with those of the Pod.
class NodePorts final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view name() const override { return kName; }
  bool Sign(const PodInfo& pod, Signature& signature) const override {
    signature.Add(static_cast<int64_t>(pod.ports.size()));
    for (const HostPort& port : pod.ports) {
      signature.Add(port.ip);
      signature.Add(port.protocol);
      signature.Add(port.port);
    }
    return true;
  }
  PreFilterResult PreFilter(CycleState&, const PodInfo& pod, const Snapshot&) const override {
    return {.status = pod.ports.empty() ? PluginStatus::Skip() : PluginStatus(), .nodes = {}};
  }
  PluginStatus Filter(const CycleState&, const PodInfo& pod, const Snapshot& nodes,
                      NodeIndex node) const override {
    return AnyConflict(pod.ports, nodes.ports(node)) ? rejection_ : PluginStatus();
  }
  std::vector<EventInterest> Events() const override {
    return {{.bits = kAssignedPodDelete,
             .hint =
                 [](const PodInfo& pod, const ClusterEvent& event) {
                   return event.old_pod == nullptr || AnyConflict(pod.ports, event.old_pod->ports);
                 }},
            {.bits = kNodeAdd, .hint = nullptr}};
  }

 private:
  const PluginStatus rejection_ = PluginStatus::Unschedulable(
      kName, "node(s) didn't have free ports for the requested pod ports");
};

}  // namespace

std::unique_ptr<Plugin> NewNodePorts(const PluginHandle&) { return std::make_unique<NodePorts>(); }

}  // namespace cox::scheduler
