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

// Preconditions of a cluster on this machine, and cleanup.
namespace cox::cmd {

// Returns OK if a cluster can be started; otherwise an error with a remedy: no root, a port in use,
// a missing program.
Status CheckMachine(const UpOptions& options);

// Enables netfilter for bridged traffic between Pods, not only for routed traffic. Replies to a Pod
// that used a Service are bridged and must have the Service's address as source. Returns an error
// if the kernel does not support it.
Status FilterBridged(const Context& ctx);

// The lock of a data folder, held by one `coxswain up` until its process ends in any way.
class DataLock {
 public:
  // Returns Conflict with the pid of the process that holds the lock.
  static Result<std::unique_ptr<DataLock>> Take(const UpPaths& paths);
  // Returns the process that holds the lock, or nullopt.
  static std::optional<Process> Holder(const UpPaths& paths);
  explicit DataLock(int fd) : fd_(fd) {}  // use Take()
  ~DataLock();
  DataLock(const DataLock&) = delete;
  DataLock& operator=(const DataLock&) = delete;

 private:
  const int fd_;
};

// Unmounts everything below `dir`, deepest mounts first. REQUIRES: `dir` is not a symlink.
Status UnmountBelow(const std::filesystem::path& dir);
// Removes a bridge or another network link. Returns OK if it does not exist.
Status RemoveLink(const std::string& name);

// Removes the cgroups of Pods below `root`. Cgroups with processes are kept.
void RemovePodGroups(const std::string& root);

}  // namespace cox::cmd
