// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/metrics.h"

namespace cox {

// The metrics every process has under the names that dashboards expect: process_cpu_seconds_total,
// process_resident_memory_bytes, process_virtual_memory_bytes, process_start_time_seconds,
// process_open_fds, process_max_fds. Read from `proc` when scraped; what cannot be read is left
// out. Registered as long as the returned handles live.
std::vector<MetricHandle> AddProcessMetrics(MetricsRegistry& registry, std::string proc = "/proc");

}  // namespace cox
