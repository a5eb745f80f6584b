// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

// Processes that tests and benchmarks start.
namespace cox::storage {

// A process of our own, found by PATH, ended with the object or with this program. Its output goes
// to the end of a file.
//
// Threads: one at a time.
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
  // Until it has ended.
  void Wait();

 private:
  pid_t pid_;
};

// A port on the loopback that is free, and reserved for this process against every other test
// process until it ends.
Result<int> FreePort();

}  // namespace cox::storage
