// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/termination_message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/fd.h"
#include "base/strings.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/logs/log_line.h"
#include "kubelet/pod/containers.h"
#include "kubelet/volumes/plugin/paths.h"

namespace cox::kubelet {

using core::v1::ContainerStatus;
using runtime::ContainerState;

namespace {

constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxLogMessage = 2048;
constexpr std::ptrdiff_t kMaxLogRecords = 80;
// Enough for runtimes that split lines at 16 KiB. A longer record than the maximum is not read.
constexpr size_t kLogRead = size_t{64} * 1024;
constexpr size_t kMaxLogRead = size_t{1024} * 1024;

// The end of a file, at most `limit` bytes; "" if it cannot be read. Sets *whole if that is the
// whole file. Containers can replace the file: a symlink is not followed, and a FIFO does not
// block.
std::string ReadEnd(const std::string& path, size_t limit, bool* whole = nullptr) {
  if (whole != nullptr) *whole = true;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (!fd.valid() || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return "";
  const auto size = static_cast<size_t>(s.st_size);
  if (whole != nullptr) *whole = size <= limit;
  std::string out(std::min(size, limit), '\0');
  const ssize_t got =
      ::pread(fd.get(), out.data(), out.size(), static_cast<off_t>(size - out.size()));
  out.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return out;
}

// The termination message of a log.
std::string ReadLogTail(const std::string& path) {
  for (size_t size = kLogRead;; size *= 4) {
    bool whole = false;
    const std::string text = ReadEnd(path, size, &whole);
    std::string_view records = text;
    // Reading began in the middle of a record: skip the rest of it.
    if (!whole) records = Cut(records, '\n').after;
    std::string message = LogTail(records);
    const bool complete = whole || message.size() == kMaxLogMessage ||
                          std::count(records.begin(), records.end(), '\n') >= kMaxLogRecords;
    if (complete || size >= kMaxLogRead) return message;
  }
}

const std::string* FindReported(const List<ContainerStatus>& statuses, const std::string& id) {
  for (const ContainerStatus& status : statuses) {
    for (const core::v1::ContainerState* state : {&status.state, &status.lastState}) {
      if (state->terminated && state->terminated->containerID.ends_with("://" + id)) {
        return &state->terminated->message;
      }
    }
  }
  return nullptr;
}

std::string ReportedMessage(const core::v1::PodStatus& reported, const std::string& id) {
  for (const auto* statuses : {&reported.containerStatuses, &reported.initContainerStatuses,
                               &reported.ephemeralContainerStatuses}) {
    if (const std::string* message = FindReported(*statuses, id)) return *message;
  }
  return "";
}

}  // namespace

std::string TerminationLogPath(const Options& options, const std::string& uid,
                               const std::string& container, uint32_t attempt) {
  return PodPaths(options.root_dir, uid).containers() + "/" + container + "/" +
         std::to_string(attempt);
}

std::string LogTail(std::string_view log) {
  std::string text;
  std::ptrdiff_t left = std::count(log.begin(), log.end(), '\n');
  while (!log.empty()) {
    const CutResult line = Cut(log, '\n');
    log = line.after;
    if (left-- > kMaxLogRecords) continue;
    const std::optional<LogLine> record = ParseLogLine(line.before);
    if (!record) continue;
    text += record->text;
    if (!record->partial && line.found) text += '\n';
  }
  if (text.size() > kMaxLogMessage) text.erase(0, text.size() - kMaxLogMessage);
  return text;
}

void AddTerminationMessages(const Options& options, const core::v1::Pod& pod,
                            const core::v1::PodStatus& reported, runtime::PodState& state) {
  for (ContainerState& container : state.containers) {
    if (container.phase != ContainerState::Phase::kExited || !container.message.empty()) continue;
    container.message = ReportedMessage(reported, container.id);
    if (!container.message.empty()) continue;
    container.message =
        ReadEnd(TerminationLogPath(options, pod.metadata.uid, container.name, container.attempt),
                kMaxMessage);
    if (!container.message.empty() || container.exit_code == 0) continue;
    std::string policy;
    ForEachContainer(pod, [&](const core::v1::Container& spec, ContainerKind) {
      if (spec.name == container.name) policy = spec.terminationMessagePolicy;
    });
    if (policy != "FallbackToLogsOnError") continue;
    container.message = ReadLogTail(PodLogDirectory(options.pod_logs_dir, pod.metadata.namespace_,
                                                    pod.metadata.name, pod.metadata.uid) +
                                    "/" + ContainerLogName(container.name, container.attempt));
  }
}

}  // namespace cox::kubelet
