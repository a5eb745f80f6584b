// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"
#include "kubelet/resources/cgroup.h"

namespace cox::kubelet {

// Creates, updates and removes the cgroups of Pods with the values of cgroup.h.
//
// Does nothing with the systemd driver: there the groups are slices, which the runtime creates
// through systemd.
// Threads: all methods may be called concurrently for different Pods.
class CgroupTree {
 public:
  struct Options {
    bool enabled = true;
    CgroupDriver driver = CgroupDriver::kCgroupfs;
    std::string root = "/";
    bool enforce_cpu = true;
    std::optional<int64_t> pids_limit = {};  // of each Pod; none: no limit
    std::string mount = "/sys/fs/cgroup";
  };
  explicit CgroupTree(Options options);

  // Creates the Pod's cgroup if needed and writes its values.
  Status Ensure(const core::v1::Pod& pod) const;
  // Updates the cgroups of the QoS classes: burstable gets the sum of its Pods' requests,
  // besteffort the minimum. `pods`: all Pods that run here.
  Status SetClasses(const std::vector<const core::v1::Pod*>& pods) const;
  // Removes the Pod's cgroup and its children. Searches all QoS classes, because an orphaned Pod
  // has no known class. OK if it does not exist. Unavailable while it contains processes, which are
  // killed.
  Status Remove(const core::v1::Pod& pod) const;

 private:
  Status Set(const std::string& path, const CgroupNumbers& numbers) const;

  const Options options_;
  const int version_;
};

}  // namespace cox::kubelet
