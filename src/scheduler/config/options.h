// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/queue/scheduling_queue.h"

namespace cox::scheduler {

// The extension points of plugins, as named in configurations.
inline constexpr std::string_view kPointNames[] = {
    "preEnqueue", "queueSort", "preFilter", "filter",  "postFilter", "preScore",
    "score",      "reserve",   "permit",    "preBind", "bind",       "postBind"};

// A scheduling profile; Pods select it with spec.schedulerName.
struct ProfileOptions {
  std::string scheduler_name = "default-scheduler";
  // Percentage of all nodes to find feasible before scoring; 0: adaptive, lower for more nodes.
  int percentage_of_nodes_to_score = 0;
  struct PluginChoice {
    std::string name;
    std::optional<int64_t> weight;  // none: the plugin's default
    // The extension points of kPointNames at which it is enabled; empty: all that it implements.
    std::vector<std::string> points;
  };
  // Empty: all plugins.
  std::vector<PluginChoice> plugins;
};

// Options of a scheduler: kube-scheduler's configuration, with its defaults.
struct SchedulerOptions {
  std::vector<ProfileOptions> profiles = {{}};
  QueueOptions queue;
  // 0: bound Pods stay assumed until the informer reports them, without a time limit.
  std::chrono::milliseconds assumed_pod_expiry{0};
  // Maximum number of concurrent bindings and other writes.
  size_t max_bindings = 32;
  // Seed of the random choice among nodes with equal score; none: from the time.
  std::optional<uint64_t> seed;
};

}  // namespace cox::scheduler
