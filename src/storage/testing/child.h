// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

// Child processes of tests and benchmarks.
namespace cox::storage {

// A child process, found by PATH, killed with the object or with this program. Its output is
// appended to a log file.
//
// Threads: one thread at a time.
class Child {
 public:
  static Result<std::unique_ptr<Child>> Start(std::vector<std::string> arguments,
                                              const std::string& log);
  explicit Child(pid_t pid) : pid_(pid) {}  // use Start()
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }  // -1 once it has ended
  bool Runs();
  void Signal(int signal) const;
  // Waits until it has exited.
  void Wait();

 private:
  pid_t pid_;
};

// A free loopback port, reserved for this process against all other test processes until this
// process exits.
Result<int> FreePort();

}  // namespace cox::storage
