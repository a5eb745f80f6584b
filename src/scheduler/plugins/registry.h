// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "scheduler/plugins/plugins.h"

namespace cox::scheduler {

struct PluginInfo {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)(const PluginHandle& handle);
  int64_t weight = 0;  // default weight of its scores; 0: it does not score
};

// In the order in which they are called.
std::span<const PluginInfo> AllPlugins();
// Returns null if there is no such plugin.
const PluginInfo* FindPlugin(std::string_view name);

}  // namespace cox::scheduler
