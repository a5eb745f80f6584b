// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "cmd/supervise/process.h"
#include "cmd/up/options.h"

// What this machine must have before a cluster can be started on it, and what is taken away again.
namespace cox::cmd {

// OK if a cluster can be started; else what to do about it: no root, a port that is taken, a
// program that is not there.
Status CheckMachine(const UpOptions& options);

// Has the packet filter see what goes from Pod to Pod over the bridge, and not only what is routed:
// the answer to a Pod that asked a Service goes back that way, and must be from the Service's
// address. Not OK, saying so, if this kernel cannot.
Status FilterBridged(const Context& ctx);

// Held by the one `coxswain up` of a data folder, until it ends however that is.
class DataLock {
 public:
  // Conflict, with the number of the process that holds it.
  static Result<std::unique_ptr<DataLock>> Take(const UpPaths& paths);
  // Who holds it; none: nobody.
  static std::optional<Process> Holder(const UpPaths& paths);
  explicit DataLock(int fd) : fd_(fd) {}  // use Take()
  ~DataLock();
  DataLock(const DataLock&) = delete;
  DataLock& operator=(const DataLock&) = delete;

 private:
  const int fd_;
};

// What is mounted below `dir`, the deepest first, is no longer. REQUIRES: `dir` is no link.
Status UnmountBelow(const std::filesystem::path& dir);
// Takes a bridge away, or any link of that name. OK if there is none.
Status RemoveLink(const std::string& name);

// The control groups of Pods below `root`. Those in which something runs stay.
void RemovePodGroups(const std::string& root);

}  // namespace cox::cmd
