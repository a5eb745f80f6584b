// SPDX-License-Identifier: Apache-2.0
#include "kubelet/containers/termination_message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/fd.h"
#include "base/strings.h"
#include "kubelet/configs/log_paths.h"
#include "kubelet/pod/containers.h"
#include "kubelet/volumes/plugin/paths.h"

namespace cox::kubelet {

using core::v1::ContainerStatus;
using runtime::ContainerState;

namespace {

constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxLogMessage = 2048;
constexpr size_t kMaxLogLines = 80;
constexpr size_t kLogRead = 64 * 1024;

// The end of a file, at most `limit` bytes; "" if it cannot be read. Containers can replace the
// file: a symlink is not followed, and a FIFO does not block.
std::string ReadEnd(const std::string& path, size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (!fd.valid() || ::fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) return "";
  const auto size = static_cast<size_t>(s.st_size);
  std::string out(std::min(size, limit), '\0');
  const ssize_t got =
      ::pread(fd.get(), out.data(), out.size(), static_cast<off_t>(size - out.size()));
  out.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return out;
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
  std::vector<std::string> lines;
  while (!log.empty()) {
    const CutResult cut = Cut(log, '\n');
    log = cut.after;
    // "<time> <stream> <tag> <text>"; the first line may be truncated.
    std::string_view rest = cut.before;
    bool whole = true;
    for (int i = 0; i < 3 && whole; ++i) {
      const CutResult field = Cut(rest, ' ');
      whole = field.found || i == 2;
      rest = field.after;
    }
    if (whole) lines.emplace_back(rest);
  }
  if (lines.size() > kMaxLogLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kMaxLogLines));
  }
  std::string text = Join(lines, "\n");
  if (!lines.empty()) text += "\n";
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
    container.message =
        LogTail(ReadEnd(PodLogDirectory(options.pod_logs_dir, pod.metadata.namespace_,
                                        pod.metadata.name, pod.metadata.uid) +
                            "/" + ContainerLogName(container.name, container.attempt),
                        kLogRead));
  }
}

}  // namespace cox::kubelet
