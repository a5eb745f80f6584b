// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "coxswain/client.h"
#include "scheduler/framework/framework.h"
#include "scheduler/framework/waiting_pods.h"

// The plugins, one file each; registry.cc lists them.
namespace cox::scheduler {

// Dependencies of plugins. Outlives them.
struct PluginHandle {
  Client* client = nullptr;        // for plugins that write; may be null in tests
  WaitingPods* waiting = nullptr;  // for Permit plugins
};

std::unique_ptr<Plugin> NewPrioritySort(const PluginHandle& handle);
std::unique_ptr<Plugin> NewSchedulingGates(const PluginHandle& handle);
std::unique_ptr<Plugin> NewUnsupportedRequirements(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodeName(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodeUnschedulable(const PluginHandle& handle);
std::unique_ptr<Plugin> NewTaintToleration(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodeAffinity(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodePorts(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodeResourcesFit(const PluginHandle& handle);
std::unique_ptr<Plugin> NewNodeResourcesBalancedAllocation(const PluginHandle& handle);
std::unique_ptr<Plugin> NewImageLocality(const PluginHandle& handle);
std::unique_ptr<Plugin> NewDefaultBinder(const PluginHandle& handle);

}  // namespace cox::scheduler
