// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {
namespace {

// Prefers nodes with similar CPU and memory utilization, because a node that is full in one
// resource cannot use the other.
class NodeResourcesBalancedAllocation final : public PreScorePlugin, public ScorePlugin {
 public:
  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  // NodeResourcesFit adds the same fields.
  bool Sign(const PodInfo&, Signature&) const override { return true; }
  PluginStatus PreScore(CycleState&, const PodInfo& pod, const Snapshot&,
                        std::span<const NodeIndex>) const override {
    // A Pod without requests does not change the balance.
    return pod.requests.milli_cpu == 0 && pod.requests.memory == 0 ? PluginStatus::Skip()
                                                                   : PluginStatus();
  }
  int64_t Score(const CycleState&, const PodInfo& pod, const Snapshot& nodes,
                NodeIndex node) const override {
    const double cpu = Fraction(nodes.cpu(), node, pod.requests.milli_cpu);
    const double memory = Fraction(nodes.memory(), node, pod.requests.memory);
    // The standard deviation of two numbers is half of their difference.
    const double deviation = cpu < 0 || memory < 0 ? 0 : std::abs(cpu - memory) / 2;
    return static_cast<int64_t>((1 - deviation) * kMaxNodeScore);
  }

 private:
  // Returns -1 if the node does not have the resource.
  static double Fraction(const ResourceColumn& column, NodeIndex node, int64_t more) {
    const int64_t allocatable = column.allocatable[node];
    if (allocatable == 0) return -1;
    return std::min(
        1.0, static_cast<double>(column.requested[node] + more) / static_cast<double>(allocatable));
  }
};

}  // namespace

std::unique_ptr<Plugin> NewNodeResourcesBalancedAllocation(const PluginHandle&) {
  return std::make_unique<NodeResourcesBalancedAllocation>();
}

}  // namespace cox::scheduler
