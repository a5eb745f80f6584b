// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <charconv>

#include "base/file_watch.h"
#include "base/strings.h"
#include "kubelet/server/stats/stats.h"

namespace cox::kubelet {
namespace {

int64_t Number(std::string_view text) {
  int64_t value = 0;
  text = TrimSpace(text);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The rest of the line that begins with `name`.
std::string_view LineOf(std::string_view text, std::string_view name) {
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ') {
      return line.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

int64_t CpuNanos(std::string_view stat) {
  // Columns: user nice system idle iowait irq softirq steal guest guest_nice. Sums all except idle
  // and iowait; user already includes guest.
  int64_t ticks = 0;
  int column = 0;
  for (const std::string_view part : Split(LineOf(stat, "cpu"), ' ')) {
    if (part.empty()) continue;
    if (column != 3 && column != 4 && column < 8) ticks += Number(part);
    ++column;
  }
  const long per_second = sysconf(_SC_CLK_TCK);
  return ticks * (1'000'000'000 / (per_second > 0 ? per_second : 100));
}

Result<NodeUsage> ReadNodeUsage(const std::string& root, const std::string& folder) {
  NodeUsage usage;
  COX_ASSIGN_OR_RETURN(const std::string stat, ReadBoundedFile(root + "/proc/stat"));
  COX_ASSIGN_OR_RETURN(const std::string meminfo, ReadBoundedFile(root + "/proc/meminfo"));
  COX_ASSIGN_OR_RETURN(const AvailableResources slack, ReadAvailableResources(root));
  COX_ASSIGN_OR_RETURN(usage.fs, ReadFilesystem(folder));
  usage.cpu_nanos = CpuNanos(stat);
  usage.started = Time::FromUnix(Number(LineOf(stat, "btime")));
  usage.memory_usage_bytes = slack.memory_bytes - MemInfoBytes(meminfo, "MemFree");
  usage.memory_working_set_bytes = slack.memory_bytes - slack.memory_available_bytes;
  usage.memory_available_bytes = slack.memory_available_bytes;
  usage.pids = slack.pids;
  usage.max_pids = slack.max_pids;
  return usage;
}

}  // namespace cox::kubelet
