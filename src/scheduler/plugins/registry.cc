// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/registry.h"

#include <algorithm>

namespace cox::scheduler {
namespace {

// Filters run in this order and stop at the first rejection: cheap and selective plugins are first,
// and the messages match upstream's only in this order. Weights are upstream's. Not implemented
// yet: VolumeBinding and related plugins after NodeResourcesFit, then PodTopologySpread (2) and
// InterPodAffinity (2); DefaultPreemption before NodeResourcesBalancedAllocation.
// UnsupportedRequirements does not exist upstream: it rejects the Pods that need these plugins. It
// precedes the other PreFilters so that the Pod has its reason and waits for no event.
constexpr PluginInfo kPlugins[] = {
    {.name = "SchedulingGates", .make = NewSchedulingGates},
    {.name = "PrioritySort", .make = NewPrioritySort},
    {.name = "UnsupportedRequirements", .make = NewUnsupportedRequirements},
    {.name = "NodeUnschedulable", .make = NewNodeUnschedulable},
    {.name = "NodeName", .make = NewNodeName},
    {.name = "TaintToleration", .make = NewTaintToleration, .weight = 3},
    {.name = "NodeAffinity", .make = NewNodeAffinity, .weight = 2},
    {.name = "NodePorts", .make = NewNodePorts},
    {.name = "NodeResourcesFit", .make = NewNodeResourcesFit, .weight = 1},
    {.name = "NodeResourcesBalancedAllocation",
     .make = NewNodeResourcesBalancedAllocation,
     .weight = 1},
    {.name = "ImageLocality", .make = NewImageLocality, .weight = 1},
    {.name = "DefaultBinder", .make = NewDefaultBinder},
};

}  // namespace

std::span<const PluginInfo> AllPlugins() { return kPlugins; }

const PluginInfo* FindPlugin(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPlugins), std::end(kPlugins),
                                   [name](const PluginInfo& info) { return info.name == name; });
  return found == std::end(kPlugins) ? nullptr : found;
}

}  // namespace cox::scheduler
