// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kubelet/node/machine.h"
#include "object/scalar/time.h"
#include "object/type/value.h"
#include "runtime/runtime.h"

// What runs here uses: the answers of /stats/summary, /metrics/resource and /metrics/cadvisor, made
// of what the runtime and the kernel say. Pure functions but for ReadNodeUsage.
namespace cox::kubelet {

struct NodeUsage {
  int64_t cpu_nanos = 0;  // since the start of the computer
  int64_t memory_usage_bytes = 0;
  int64_t memory_working_set_bytes = 0;
  int64_t memory_available_bytes = 0;
  int64_t pids = 0;
  int64_t max_pids = 0;
  Filesystem fs;
  Time started;
};
// `root` stands before /proc, `folder` is on the file system that counts.
Result<NodeUsage> ReadNodeUsage(const std::string& root, const std::string& folder);
// Nanoseconds of work, of all processors together, from the text of /proc/stat.
int64_t CpuNanos(std::string_view stat);

struct Usage {
  std::string node_name;
  NodeUsage node;
  Machine machine;
  List<cri::v1::PodSandboxStats> sandboxes;
  List<cri::v1::ContainerStats> containers;
  // When they began, by the container's id; those that are not there are left out.
  std::vector<runtime::PodState> pods;
  Filesystem images;
  Time now;
};

Value StatsSummary(const Usage& usage);
// In Prometheus' text format, with upstream's names.
std::string ResourceMetrics(const Usage& usage);
std::string CadvisorMetrics(const Usage& usage);

}  // namespace cox::kubelet
