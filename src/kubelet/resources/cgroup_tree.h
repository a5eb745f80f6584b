// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "base/result.h"
#include "kubelet/resources/cgroup.h"

namespace cox::kubelet {

// Makes and removes the control groups of Pods, with the numbers of cgroup.h in them.
//
// With the systemd driver groups are slices, which the runtime has systemd make: nothing is done
// here then.
// Threads: all methods may be called concurrently for different Pods.
class CgroupTree {
 public:
  struct Options {
    bool enabled = true;
    CgroupDriver driver = CgroupDriver::kCgroupfs;
    std::string root = "/";
    bool enforce_cpu = true;
    std::string mount = "/sys/fs/cgroup";
  };
  explicit CgroupTree(Options options);

  // The Pod's group is there and has what the Pod asks for.
  Status Ensure(const core::v1::Pod& pod) const;
  // The groups of the classes: what burstable Pods have together is what they ask for together,
  // those of best effort get what is left. `pods`: all that run here.
  Status SetClasses(const std::vector<const core::v1::Pod*>& pods) const;
  // And is no longer, nor any below it; looked for in all classes, as a Pod that was only found
  // here has none. OK if it never was. Unavailable while processes are in it, which are killed.
  Status Remove(const core::v1::Pod& pod) const;

 private:
  Status Set(const std::string& path, const CgroupNumbers& numbers) const;

  const Options options_;
  const int version_;
};

}  // namespace cox::kubelet
