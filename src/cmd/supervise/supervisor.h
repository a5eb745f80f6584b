// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/rotating_log.h"
#include "base/scope.h"
#include "cmd/supervise/process.h"

namespace cox::cmd {

struct SupervisedProgram {
  std::string name;  // "etcd"
  ProgramStart start;
  // An entry of start.arguments that no other process has. It identifies an instance that already
  // runs.
  std::string mark;
  // Returns OK when the program serves.
  std::function<Status(Context& ctx)> probe;
  // Called whenever a restarted program serves; may be empty.
  std::function<void(const Context& ctx)> served_again;
  // The log is rotated when it is larger; see RotateAppendedLog.
  LogFileLimits log_limits = {};
  std::chrono::milliseconds log_check_interval{60'000};
  // Set if this process may do so; see SetOomScoreAdj.
  std::optional<int> oom_score_adj = std::nullopt;
};

// Keeps a program running: adopts the process of an earlier supervisor or starts a new one, and
// restarts it when it exits. Rotates its log.
//
// Guarantees: never starts a second instance. Restarts have an exponential backoff, up to ten
//   seconds. The program keeps running when the supervisor is destroyed; End() stops it.
// Threads: all methods may be called concurrently.
class Supervisor {
 public:
  // Returns when the program is started or found; WaitReady waits until it serves. Returns NotFound
  // if it is not installed.
  static Result<std::unique_ptr<Supervisor>> Start(const Context& ctx, SupervisedProgram program);
  Supervisor(const Context& ctx, SupervisedProgram program);  // use Start()
  ~Supervisor();

  // Errors: Unavailable, with the probe's error and the end of the program's log.
  Status WaitReady(Context& ctx);
  // Returns whether the process existed before this supervisor.
  bool adopted() const;
  Process process() const;
  // The number of restarts.
  int restarts() const;

  // Sends SIGTERM, and SIGKILL after `grace`; the program is not restarted.
  Status End(const Context& ctx, std::chrono::milliseconds grace);

 private:
  Status Launch();
  void RotateLog();
  // Returns when the process has ended; an error if `ctx` stops.
  Status AwaitExit(const Context& ctx);
  void Watch(Context& ctx);
  void ReportServedAgain(Context& ctx);

  const SupervisedProgram program_;
  const Context ctx_;
  mutable Mutex mu_;
  bool adopted_ COX_GUARDED_BY(mu_) = false;
  Process process_ COX_GUARDED_BY(mu_);
  int restarts_ COX_GUARDED_BY(mu_) = 0;
  Scope scope_;
};

// The last lines of a log, for error messages.
std::string LogTail(const std::filesystem::path& log, int lines);

}  // namespace cox::cmd
