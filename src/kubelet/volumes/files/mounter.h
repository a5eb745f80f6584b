// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace cox::kubelet {

// Mount operations. An interface, so that tests run without root.
//
// Threads: all methods may be called concurrently.
class Mounter {
 public:
  virtual ~Mounter() = default;
  // Mounts a tmpfs at `path` with at most `bytes` (0: the kernel's default).
  virtual Status MountTmpfs(const std::string& path, int64_t bytes) = 0;
  // Bind-mounts the file of `fd` at `path`, which must exist and be of the same type.
  virtual Status BindHandle(int fd, const std::string& path) = 0;
  // OK if nothing is mounted there. A busy mount is detached lazily.
  virtual Status Unmount(const std::string& path) = 0;
  virtual Result<bool> IsMounted(const std::string& path) = 0;
};

std::unique_ptr<Mounter> MakeMounter();

}  // namespace cox::kubelet
