// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "runtime/runtime.h"

// Keeps the logs of containers small: a log that grew too large is moved away, packed, and at last
// removed.
namespace cox::kubelet {

struct RotateOptions {
  std::string pod_logs_dir = "/var/log/pods";
  int64_t max_bytes = int64_t{10} * 1024 * 1024;  // containerLogMaxSize
  int max_files = 5;                              // containerLogMaxFiles, with the one in use
  std::chrono::seconds period{10};                // containerLogMonitorInterval
};

// What is to be done with the files beside a log before it is moved away itself.
struct RotationPlan {
  std::vector<std::string> remove;
  std::vector<std::string> pack;
};
// `log` is the name of the log ("0.log"), `names` what is in its folder. Those moved away earlier
// are "0.log.20260102-030405", or that with ".gz".
RotationPlan PlanRotation(const std::string& log, std::vector<std::string> names, int max_files);

// Threads: one. Ownership: the runtime outlives it.
class LogRotator {
 public:
  LogRotator(RotateOptions options, runtime::Runtime& runtime);

  // Until `ctx` stops.
  void Run(Context& ctx);
  // Once: every log of a running container that is too large, and those that were moved away by one
  // who did not live to tell the runtime; what was moved away of containers that are gone is
  // removed. The runtime is asked only if there are such files.
  Status RotateAll(Context& ctx);

 private:
  Status Rotate(Context& ctx, const std::string& id, const std::string& path);

  const RotateOptions options_;
  runtime::Runtime& runtime_;
};

}  // namespace cox::kubelet
