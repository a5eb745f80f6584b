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
  int64_t weight = 0;  // of its scores, by default; 0: it has none
};

// In the order in which they are asked.
std::span<const PluginInfo> AllPlugins();
// Null if there is none of that name.
const PluginInfo* FindPlugin(std::string_view name);

}  // namespace cox::scheduler
