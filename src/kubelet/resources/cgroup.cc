// SPDX-License-Identifier: Apache-2.0
#include "kubelet/resources/cgroup.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "kubelet/resources/requests.h"

namespace cox::kubelet {

using core::v1::Pod;

namespace {

constexpr uint64_t kMinShares = 2;
constexpr uint64_t kMaxShares = 262'144;
constexpr int64_t kMinQuota = 1000;

// Splits "/a/b" into "a" and "b".
std::vector<std::string> Parts(std::string_view path) {
  std::vector<std::string> parts = Split(path, '/').ToStrings();
  std::erase(parts, "");
  return parts;
}

std::string ToPath(const std::vector<std::string>& parts, CgroupDriver driver) {
  std::string path;
  if (driver == CgroupDriver::kCgroupfs) {
    for (const std::string& part : parts) path += "/" + part;
    return path.empty() ? "/" : path;
  }
  // A slice's name contains the names of its parents, joined by dashes; so a dash in a name is
  // replaced by "_".
  std::string name;
  for (std::string part : parts) {
    std::replace(part.begin(), part.end(), '-', '_');
    name += (name.empty() ? "" : "-") + part;
    path += "/" + name + ".slice";
  }
  return path.empty() ? "/" : path;
}

std::vector<std::string> QosParts(std::string_view qos, std::string_view cgroup_root) {
  std::vector<std::string> parts = Parts(cgroup_root);
  parts.emplace_back("kubepods");
  if (qos == core::v1::kPodQOSBurstable) parts.emplace_back("burstable");
  if (qos == core::v1::kPodQOSBestEffort) parts.emplace_back("besteffort");
  return parts;
}

}  // namespace

std::string QosCgroupPath(std::string_view qos, std::string_view cgroup_root, CgroupDriver driver) {
  return ToPath(QosParts(qos, cgroup_root), driver);
}

std::string PodCgroupPath(const Pod& pod, std::string_view cgroup_root, CgroupDriver driver) {
  std::vector<std::string> parts = QosParts(QosClass(pod), cgroup_root);
  parts.push_back("pod" + pod.metadata.uid);
  return ToPath(parts, driver);
}

uint64_t MilliCpuToShares(int64_t milli) {
  if (milli <= 0) return kMinShares;
  // Larger than any machine; avoids an overflow below.
  if (milli >= 256'000'000) return kMaxShares;
  return std::clamp(static_cast<uint64_t>(milli) * 1024 / 1000, kMinShares, kMaxShares);
}

uint64_t SharesToWeight(uint64_t shares) {
  if (shares <= kMinShares) return 1;
  if (shares >= kMaxShares) return 10'000;
  // A logarithmic curve through (2, 1), (1024, 100) and (262144, 10000), as in the runtimes.
  const double l = std::log2(static_cast<double>(shares));
  const double exponent = (l * l + 125 * l) / 612.0 - 7.0 / 34.0;
  return static_cast<uint64_t>(std::ceil(std::pow(10.0, exponent)));
}

int64_t MilliCpuToQuota(int64_t milli, uint64_t period) {
  if (milli <= 0) return 0;
  if (milli >= 1'000'000'000) milli = 1'000'000'000;
  return std::max(milli * static_cast<int64_t>(period) / 1000, kMinQuota);
}

CgroupNumbers PodNumbers(const Pod& pod, bool enforce_cpu) {
  const std::string qos = QosClass(pod);
  if (qos == core::v1::kPodQOSBestEffort) return {.cpu_shares = kMinShares};
  CgroupNumbers numbers{.cpu_shares = MilliCpuToShares(PodRequest(pod, "cpu").value)};
  const PodAmount cpu = PodLimit(pod, "cpu");
  if (enforce_cpu && cpu.everywhere && cpu.value > 0) {
    numbers.cpu_quota = MilliCpuToQuota(cpu.value);
    numbers.cpu_period = kCpuPeriod;
  }
  const PodAmount memory = PodLimit(pod, "memory");
  if (memory.everywhere && memory.value > 0) numbers.memory_limit = memory.value;
  return numbers;
}

CgroupNumbers ContainerNumbers(const core::v1::Container& container, bool enforce_cpu) {
  CgroupNumbers numbers{.cpu_shares = MilliCpuToShares(ContainerRequest(container, "cpu"))};
  if (const int64_t cpu = ContainerLimit(container, "cpu"); enforce_cpu && cpu > 0) {
    numbers.cpu_quota = MilliCpuToQuota(cpu);
    numbers.cpu_period = kCpuPeriod;
  }
  if (const int64_t memory = ContainerLimit(container, "memory"); memory > 0) {
    numbers.memory_limit = memory;
  }
  return numbers;
}

CgroupNumbers BurstableNumbers(const std::vector<const Pod*>& pods) {
  int64_t milli = 0;
  for (const Pod* pod : pods) {
    if (QosClass(*pod) == core::v1::kPodQOSBurstable) milli += PodRequest(*pod, "cpu").value;
  }
  return {.cpu_shares = MilliCpuToShares(milli)};
}

std::vector<CgroupFile> CgroupFiles(const CgroupNumbers& numbers, std::string_view path,
                                    int version, std::string_view mount) {
  std::vector<CgroupFile> files;
  const auto add = [&](std::string_view controller, std::string_view name, std::string value) {
    std::string file(mount);
    if (version == 1) file += "/" + std::string(controller);
    files.push_back({file + std::string(path) + "/" + std::string(name), std::move(value)});
  };
  if (version == 1) {
    if (numbers.cpu_shares) add("cpu", "cpu.shares", std::to_string(*numbers.cpu_shares));
    if (numbers.cpu_period) add("cpu", "cpu.cfs_period_us", std::to_string(*numbers.cpu_period));
    if (numbers.cpu_quota) add("cpu", "cpu.cfs_quota_us", std::to_string(*numbers.cpu_quota));
    if (numbers.memory_limit) {
      add("memory", "memory.limit_in_bytes", std::to_string(*numbers.memory_limit));
    }
    if (numbers.pids_limit) add("pids", "pids.max", std::to_string(*numbers.pids_limit));
    return files;
  }
  if (numbers.cpu_shares) {
    add("", "cpu.weight", std::to_string(SharesToWeight(*numbers.cpu_shares)));
  }
  if (numbers.cpu_quota) {
    add("", "cpu.max",
        std::to_string(*numbers.cpu_quota) + " " +
            std::to_string(numbers.cpu_period.value_or(kCpuPeriod)));
  }
  if (numbers.memory_limit) add("", "memory.max", std::to_string(*numbers.memory_limit));
  if (numbers.pids_limit) add("", "pids.max", std::to_string(*numbers.pids_limit));
  return files;
}

}  // namespace cox::kubelet
