// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "runtime/runtime.h"

// Rotates container logs: renames a log that is too large, compresses it, and finally removes it.
namespace cox::kubelet {

struct RotateOptions {
  std::string pod_logs_dir = "/var/log/pods";
  int64_t max_bytes = int64_t{10} * 1024 * 1024;  // containerLogMaxSize
  int max_files = 5;                              // containerLogMaxFiles, including the current one
  std::chrono::seconds period{10};                // containerLogMonitorInterval
};

// The actions on the rotated files of a log before the log itself is rotated.
struct RotationPlan {
  std::vector<std::string> remove;
  std::vector<std::string> pack;
};
// `log` is the file name of the log ("0.log"), `names` the content of its directory. Rotated files
// are "0.log.20260102-030405", with ".gz" if compressed.
RotationPlan PlanRotation(const std::string& log, std::vector<std::string> names, int max_files);

// Threads: one. Ownership: the runtime outlives it.
class LogRotator {
 public:
  LogRotator(RotateOptions options, runtime::Runtime& runtime);

  // Runs until `ctx` is cancelled.
  void Run(Context& ctx);
  // Rotates the logs of running containers that are too large, finishes rotations that were
  // interrupted before ReopenContainerLog, and removes rotated logs of containers that no longer
  // exist. Calls the runtime only if there are such files.
  Status RotateAll(Context& ctx);

 private:
  Status Rotate(Context& ctx, const std::string& id, const std::string& path);

  const RotateOptions options_;
  runtime::Runtime& runtime_;
};

}  // namespace cox::kubelet
