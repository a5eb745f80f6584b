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

// The points at which plugins take part, as configurations name them.
inline constexpr std::string_view kPointNames[] = {
    "preEnqueue", "queueSort", "preFilter", "filter",  "postFilter", "preScore",
    "score",      "reserve",   "permit",    "preBind", "bind",       "postBind"};

// One way to choose nodes; Pods ask for it by spec.schedulerName.
struct ProfileOptions {
  std::string scheduler_name = "default-scheduler";
  // Of all nodes, how many are looked at closely, in percent; 0: fewer the more nodes there are.
  int percentage_of_nodes_to_score = 0;
  struct PluginChoice {
    std::string name;
    std::optional<int64_t> weight;  // none: the plugin's own
    // Of kPointNames, those at which it takes part; empty: all at which it has something to say.
    std::vector<std::string> points;
  };
  // Empty: all there are.
  std::vector<PluginChoice> plugins;
};

// What a scheduler can be told: kube-scheduler's configuration, with its defaults.
struct SchedulerOptions {
  std::vector<ProfileOptions> profiles = {{}};
  QueueOptions queue;
  // 0: Pods that were bound count as bound, however long the news takes.
  std::chrono::milliseconds assumed_pod_expiry{0};
  // Bindings, and other writes, that are under way at once.
  size_t max_bindings = 32;
  // Of the draw between nodes of equal score; none: from the time.
  std::optional<uint64_t> seed;
};

}  // namespace cox::scheduler
