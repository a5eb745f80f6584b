// SPDX-License-Identifier: Apache-2.0
#include "base/oom_score.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/fd.h"

namespace cox {

Status SetOomScoreAdj(pid_t pid, int score) {
  const std::string process = pid == 0 ? "self" : std::to_string(pid);
  const std::string path = "/proc/" + process + "/oom_score_adj";
  const std::string text = std::to_string(score);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid() &&
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  const int error = errno;
  const std::string message = "cannot write " + text + " to " + path + ": " + std::strerror(error);
  if (error == ENOENT || error == ESRCH) return Status::NotFound(message);
  if (error == EACCES || error == EPERM) return Status::Forbidden(message);
  return Status::Internal(message);
}

void TrySetOomScoreAdj(const Logger& log, pid_t pid, int score) {
  const Status set = SetOomScoreAdj(pid, score);
  if (!set.ok()) COX_V(log, 2, "Could not set OOM score", {"why", set.message()});
}

}  // namespace cox
