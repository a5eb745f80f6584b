// SPDX-License-Identifier: Apache-2.0
#include "base/usable_cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace cox {
namespace {

constexpr char kGroups[] = "/sys/fs/cgroup";

int CpusOfAffinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more CPUs than the set can hold.
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

// The path of this process's control group: the line "0::<path>".
std::string OwnGroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

// Reads "<quota> <period>" in microseconds; the quota may be "max".
std::optional<double> ReadQuota(const std::string& path) {
  std::ifstream file(path);
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

}  // namespace

std::optional<double> CpuQuota(const std::string& root, std::string_view group) {
  std::optional<double> least;
  for (;;) {
    while (group.ends_with('/')) group.remove_suffix(1);
    const std::optional<double> quota = ReadQuota(root + std::string(group) + "/cpu.max");
    if (quota && (!least || *quota < *least)) least = quota;
    if (group.empty()) return least;
    const size_t slash = group.rfind('/');
    group = slash == std::string_view::npos ? std::string_view() : group.substr(0, slash);
  }
}

int UsableCpus() {
  int cpus = CpusOfAffinity();
  if (const std::optional<double> quota = CpuQuota(kGroups, OwnGroup()); quota && *quota < cpus) {
    cpus = static_cast<int>(std::ceil(*quota));
  }
  return std::max(cpus, 1);
}

}  // namespace cox
