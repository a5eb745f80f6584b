// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cache/node_info.h"
#include "scheduler/framework/plugin_status.h"

namespace cox::scheduler {

// The reasons why no node was feasible for a Pod, by node.
struct Diagnosis {
  size_t all_nodes = 0;
  std::vector<std::pair<NodeIndex, PluginStatus>> nodes;
  PluginStatus absent;  // status of the nodes that are not in `nodes`
  std::string pre_filter_message;
  std::string post_filter_message;
  std::set<std::string, std::less<>> unschedulable_plugins;
  std::set<std::string, std::less<>> pending_plugins;

  void Blame(const PluginStatus& status);
};

inline constexpr std::string_view kNoNodes = "no nodes available to schedule pods";

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable."
std::string FitErrorText(const Diagnosis& diagnosis);

}  // namespace cox::scheduler
