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
#include "base/scope.h"
#include "cmd/supervise/process.h"

namespace cox::cmd {

struct SupervisedProgram {
  std::string name;  // "etcd"
  ProgramStart start;
  // One of start.arguments that no other process has: by it one that runs already is found.
  std::string mark;
  // OK when it serves.
  std::function<Status(Context& ctx)> probe;
  // Called whenever it serves in place of one that has ended; may be empty.
  std::function<void(const Context& ctx)> served_again;
};

// Keeps a program running: finds the one that an earlier supervisor has left or starts it, and
// starts it again when it ends.
//
// Guarantees: never starts a second one beside one that runs. A program that ends soon after its
//   start is started later each time, up to ten seconds. It lives on when the supervisor is
//   destroyed; End() ends it.
// Threads: all methods may be called concurrently.
class Supervisor {
 public:
  // Started when this returns, or found; WaitReady tells when it serves. NotFound: not installed.
  static Result<std::unique_ptr<Supervisor>> Start(const Context& ctx, SupervisedProgram program);
  Supervisor(const Context& ctx, SupervisedProgram program);  // use Start()
  ~Supervisor();

  // Errors: the context's reason, with the end of the program's log if that has ended meanwhile.
  Status WaitReady(Context& ctx);
  // Whether it was there before us.
  bool adopted() const;
  Process process() const;
  // How often it was started again.
  int restarts() const;

  // Asks it to end, and insists after `grace`; it is not started again.
  Status End(const Context& ctx, std::chrono::milliseconds grace);

 private:
  Status Launch();
  void Watch(Context& ctx);
  void TellServedAgain(Context& ctx);

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
