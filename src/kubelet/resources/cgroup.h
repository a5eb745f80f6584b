// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"

// Cgroup paths and values of Pods. Pure; CgroupTree writes them.
//
//   <root>/kubepods                        all Pods
//   <root>/kubepods/pod<uid>               guaranteed ones
//   <root>/kubepods/burstable/pod<uid>
//   <root>/kubepods/besteffort/pod<uid>
namespace cox::kubelet {

enum class CgroupDriver : uint8_t { kCgroupfs, kSystemd };

// The path in the hierarchy, in the format of the CRI's cgroup_parent. With systemd:
// "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice".
std::string PodCgroupPath(const core::v1::Pod& pod, std::string_view cgroup_root,
                          CgroupDriver driver);
// The path of a QoS class; "" for the parent of all Pods.
std::string QosCgroupPath(std::string_view qos, std::string_view cgroup_root, CgroupDriver driver);

// CPU weight in the unit of cgroup v1: 1024 is one CPU; 2 to 262144.
uint64_t MilliCpuToShares(int64_t milli);
// The same in the unit of cgroup v2, 1 to 10000. One CPU is 100, the default of unconfigured
// groups; the formula is that of the container runtimes, so that all levels agree.
uint64_t SharesToWeight(uint64_t shares);
inline constexpr uint64_t kCpuPeriod = 100'000;  // microseconds
// Microseconds per period; at least 1000, the kernel's minimum. 0 (no limit) for 0.
int64_t MilliCpuToQuota(int64_t milli, uint64_t period = kCpuPeriod);

// The values of a cgroup; none: the kernel's default.
struct CgroupNumbers {
  std::optional<uint64_t> cpu_shares;
  std::optional<int64_t> cpu_quota;
  std::optional<uint64_t> cpu_period;
  std::optional<int64_t> memory_limit;
  std::optional<int64_t> pids_limit = {};

  bool operator==(const CgroupNumbers&) const = default;
};
// `enforce_cpu`: whether CPU limits are enforced (cpuCFSQuota).
CgroupNumbers PodNumbers(const core::v1::Pod& pod, bool enforce_cpu);
CgroupNumbers ContainerNumbers(const core::v1::Container& container, bool enforce_cpu);
// The values of the group "burstable": the sum of its Pods' requests, so that QoS classes compete
// by requests.
CgroupNumbers BurstableNumbers(const std::vector<const core::v1::Pod*>& pods);

// A file to write in the hierarchy.
struct CgroupFile {
  std::string path;  // "/sys/fs/cgroup/kubepods/pod1/cpu.weight"
  std::string value;

  bool operator==(const CgroupFile&) const = default;
};
// The files for version 1 (a hierarchy per controller) or 2 (one) below `mount`.
std::vector<CgroupFile> CgroupFiles(const CgroupNumbers& numbers, std::string_view path,
                                    int version, std::string_view mount = "/sys/fs/cgroup");

}  // namespace cox::kubelet
