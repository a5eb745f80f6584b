// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scheduler/config/options.h"

namespace cox::scheduler {

// A KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1, read.
struct Configuration {
  SchedulerOptions scheduler;
  // What it says of the program around the scheduler, as flags: {"leader-elect", "false"}.
  std::vector<std::pair<std::string, std::string>> flags;
};

// YAML or JSON. What cannot be had here is refused, not ignored: extenders, arguments of plugins.
// BadRequest, naming the field.
Result<Configuration> ParseConfiguration(std::string_view text);

}  // namespace cox::scheduler
