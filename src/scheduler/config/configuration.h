// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scheduler/config/options.h"

namespace cox::scheduler {

// A parsed KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
struct Configuration {
  SchedulerOptions scheduler;
  // Settings of the process around the scheduler, as flags: {"leader-elect", "false"}.
  std::vector<std::pair<std::string, std::string>> flags;
};

// Parses YAML or JSON. Unsupported settings (extenders, arguments of plugins) are rejected, not
// ignored. Returns BadRequest with the name of the field.
Result<Configuration> ParseConfiguration(std::string_view text);

}  // namespace cox::scheduler
