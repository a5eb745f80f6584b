// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/metrics.h"

namespace cox {

// The standard process metrics of Prometheus: process_cpu_seconds_total,
// process_resident_memory_bytes, process_virtual_memory_bytes, process_start_time_seconds,
// process_open_fds, process_max_fds. Read from `proc` when scraped; unreadable values are omitted.
// Registered as long as the returned handles exist.
std::vector<MetricHandle> AddProcessMetrics(MetricsRegistry& registry, std::string proc = "/proc");

}  // namespace cox
