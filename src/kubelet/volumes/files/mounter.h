// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace cox::kubelet {

// What the kernel mounts for us. An interface, so that tests run without root.
//
// Threads: all methods may be called concurrently.
class Mounter {
 public:
  virtual ~Mounter() = default;
  // A file system in memory at `path`, of at most `bytes` (0: the kernel's default).
  virtual Status MountTmpfs(const std::string& path, int64_t bytes) = 0;
  // What the handle `fd` is of, at `path`, which is there and of the same kind (file, directory).
  virtual Status BindHandle(int fd, const std::string& path) = 0;
  // OK if nothing is mounted there. A busy one is let go as soon as nobody uses it.
  virtual Status Unmount(const std::string& path) = 0;
  virtual Result<bool> IsMounted(const std::string& path) = 0;
};

std::unique_ptr<Mounter> MakeMounter();

}  // namespace cox::kubelet
