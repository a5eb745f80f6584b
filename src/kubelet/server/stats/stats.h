// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kubelet/node/machine.h"
#include "object/scalar/time.h"
#include "object/type/value.h"
#include "runtime/runtime.h"

// Resource usage: the responses of /stats/summary, /metrics/resource and /metrics/cadvisor,
// computed from runtime and kernel statistics. Pure functions except ReadNodeUsage.
namespace cox::kubelet {

struct NodeUsage {
  int64_t cpu_nanos = 0;  // since boot
  int64_t memory_usage_bytes = 0;
  int64_t memory_working_set_bytes = 0;
  int64_t memory_available_bytes = 0;
  int64_t pids = 0;
  int64_t max_pids = 0;
  Filesystem fs;
  Time started;
};
// `root` is the prefix of /proc; `folder` selects the file system.
Result<NodeUsage> ReadNodeUsage(const std::string& root, const std::string& folder);
// CPU time of all processors in nanoseconds, without idle time, from the text of /proc/stat.
int64_t CpuNanos(std::string_view stat);

struct Usage {
  std::string node_name;
  NodeUsage node;
  Machine machine;
  List<cri::v1::PodSandboxStats> sandboxes;
  List<cri::v1::ContainerStats> containers;
  // Provides start times by container id; containers that are not in it are omitted.
  std::vector<runtime::PodState> pods;
  Filesystem images;
  Time now;
};

Value StatsSummary(const Usage& usage);
// The text in Prometheus' format, with upstream's metric names. If the usage could not be read,
// only resource_scrape_error has a sample.
std::string ResourceMetrics(const Result<Usage>& usage);
std::string CadvisorMetrics(const Usage& usage);

}  // namespace cox::kubelet
