// SPDX-License-Identifier: Apache-2.0
#include "base/process_metrics.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/strings.h"

namespace cox {
namespace {

// Files under /proc have no size: read until the end. Empty if unreadable.
std::string ReadFile(const std::string& path) {
  std::string content;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return content;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = read(fd, buffer.data(), buffer.size())) > 0) {
    content.append(buffer.data(), static_cast<size_t>(got));
  }
  close(fd);
  return content;
}

std::optional<double> Number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Field numbers of <proc>/self/stat, as in the manual page proc(5).
enum StatField {
  kUserTicks = 14,
  kSystemTicks = 15,
  kStartTicks = 22,
  kVirtualBytes = 23,
  kResidentPages = 24
};

std::optional<double> ReadStat(const std::string& proc, StatField field) {
  const std::string stat = ReadFile(proc + "/self/stat");
  // The second field is the program's name in parentheses; it may contain spaces and parentheses.
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  int index = 3;
  for (std::string_view part : Split(TrimSpace(std::string_view(stat).substr(name_end + 2)), ' ')) {
    if (index++ == field) return Number(part);
  }
  return std::nullopt;
}

// The boot time in seconds since the epoch.
std::optional<double> ReadBootTime(const std::string& proc) {
  const std::string stat = ReadFile(proc + "/stat");
  for (std::string_view line : Split(stat, '\n')) {
    if (const auto [key, value, found] = Cut(line, ' '); found && key == "btime") {
      return Number(TrimSpace(value));
    }
  }
  return std::nullopt;
}

double TicksPerSecond() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<double> CpuSeconds(const std::string& proc) {
  const auto user = ReadStat(proc, kUserTicks);
  const auto system = ReadStat(proc, kSystemTicks);
  if (!user || !system) return std::nullopt;
  return (*user + *system) / TicksPerSecond();
}

std::optional<double> StartTime(const std::string& proc) {
  const auto boot = ReadBootTime(proc);
  const auto start = ReadStat(proc, kStartTicks);
  if (!boot || !start) return std::nullopt;
  return *boot + *start / TicksPerSecond();
}

std::optional<double> VirtualBytes(const std::string& proc) {
  return ReadStat(proc, kVirtualBytes);
}

std::optional<double> ResidentBytes(const std::string& proc) {
  const auto pages = ReadStat(proc, kResidentPages);
  if (!pages) return std::nullopt;
  return *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<double> OpenFds(const std::string& proc) {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator entry(proc + "/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  if (error) return std::nullopt;
  return count;
}

std::optional<double> MaxFds(const std::string&) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

struct Row {
  const char* name;
  const char* help;
  bool counter;
  std::optional<double> (*read)(const std::string& proc);
};

constexpr std::array kRows = {
    Row{"process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", true,
        CpuSeconds},
    Row{"process_max_fds", "Maximum number of open file descriptors.", false, MaxFds},
    Row{"process_open_fds", "Number of open file descriptors.", false, OpenFds},
    Row{"process_resident_memory_bytes", "Resident memory size in bytes.", false, ResidentBytes},
    Row{"process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        false, StartTime},
    Row{"process_virtual_memory_bytes", "Virtual memory size in bytes.", false, VirtualBytes},
};

}  // namespace

std::vector<MetricHandle> AddProcessMetrics(MetricsRegistry& registry, std::string proc) {
  std::vector<MetricHandle> handles;
  for (const Row& row : kRows) {
    auto read = [proc, value = row.read](const EmitSample& emit) {
      if (const auto sample = value(proc)) emit({}, *sample);
    };
    MetricOptions options{.name = row.name, .help = row.help, .stability = Stability::kNone};
    handles.push_back(row.counter
                          ? registry.AddCounterCallback(std::move(options), {}, std::move(read))
                          : registry.AddGaugeCallback(std::move(options), {}, std::move(read)));
  }
  return handles;
}

}  // namespace cox
