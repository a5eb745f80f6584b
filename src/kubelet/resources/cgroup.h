// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"

// Control groups: where a Pod's is, and what is written there. Pure; whoever has the file system
// writes it.
//
//   <root>/kubepods                        all Pods
//   <root>/kubepods/pod<uid>               guaranteed ones
//   <root>/kubepods/burstable/pod<uid>
//   <root>/kubepods/besteffort/pod<uid>
namespace cox::kubelet {

enum class CgroupDriver : uint8_t { kCgroupfs, kSystemd };

// The path within the hierarchy, as the CRI's cgroup_parent wants it. With systemd:
// "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice".
std::string PodCgroupPath(const core::v1::Pod& pod, std::string_view cgroup_root,
                          CgroupDriver driver);
// Of all Pods of a class; "" for the root of all of them.
std::string QosCgroupPath(std::string_view qos, std::string_view cgroup_root, CgroupDriver driver);

// CPU time relative to others, in cgroup v1's measure: 1024 is one CPU; 2 to 262144.
uint64_t MilliCpuToShares(int64_t milli);
// The same in cgroup v2's measure, 1 to 10000. One CPU is 100, which is what groups have that
// nobody configured; the curve is that of the runtimes, so that all levels agree.
uint64_t SharesToWeight(uint64_t shares);
inline constexpr uint64_t kCpuPeriod = 100'000;  // microseconds
// Microseconds in each period; at least 1000, which is the kernel's least. 0 (no limit) for 0.
int64_t MilliCpuToQuota(int64_t milli, uint64_t period = kCpuPeriod);

// What a group gets; none: the kernel's default stays.
struct CgroupNumbers {
  std::optional<uint64_t> cpu_shares;
  std::optional<int64_t> cpu_quota;
  std::optional<uint64_t> cpu_period;
  std::optional<int64_t> memory_limit;

  bool operator==(const CgroupNumbers&) const = default;
};
// `enforce_cpu`: whether limits of CPU are (cpuCFSQuota).
CgroupNumbers PodNumbers(const core::v1::Pod& pod, bool enforce_cpu);
CgroupNumbers ContainerNumbers(const core::v1::Container& container, bool enforce_cpu);
// Of the group "burstable": what its Pods ask for together, so that classes compete by requests.
CgroupNumbers BurstableNumbers(const std::vector<const core::v1::Pod*>& pods);

// A file to write, in a directory of the hierarchy.
struct CgroupFile {
  std::string path;  // "/sys/fs/cgroup/kubepods/pod1/cpu.weight"
  std::string value;

  bool operator==(const CgroupFile&) const = default;
};
// The files for version 1 (a hierarchy per controller) or 2 (one) below `mount`.
std::vector<CgroupFile> CgroupFiles(const CgroupNumbers& numbers, std::string_view path,
                                    int version, std::string_view mount = "/sys/fs/cgroup");

}  // namespace cox::kubelet
