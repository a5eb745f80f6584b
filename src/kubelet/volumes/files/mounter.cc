// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/mounter.h"

#include <sys/mount.h>

#include <cerrno>

#include "kubelet/volumes/files/file_tree.h"

namespace cox::kubelet {

namespace {

bool Mount(const std::string& path, const std::string& options) {
  return ::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
}

class KernelMounter final : public Mounter {
 public:
  Status MountTmpfs(const std::string& path, int64_t bytes) override {
    std::string options = "mode=0777";
    if (bytes > 0) options += ",size=" + std::to_string(bytes);
    // Secrets must not be written to swap. Kernels before 6.4 do not have the option.
    if (Mount(path, options + ",noswap") || (errno == EINVAL && Mount(path, options))) return {};
    return FileError("mount tmpfs at", path);
  }

  Status BindHandle(int fd, const std::string& path) override {
    const std::string source = "/proc/self/fd/" + std::to_string(fd);
    if (::mount(source.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return FileError("bind at", path);
    }
    return {};
  }

  Status Unmount(const std::string& path) override {
    // Repeated, because a kubelet that crashed may have left stacked mounts.
    for (int i = 0; i < 16; ++i) {
      COX_ASSIGN_OR_RETURN(const bool mounted, IsMounted(path));
      if (!mounted) return {};
      if (::umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0) continue;
      if (errno != EBUSY || ::umount2(path.c_str(), UMOUNT_NOFOLLOW | MNT_DETACH) != 0) {
        if (errno == EINVAL || errno == ENOENT) return {};
        return FileError("unmount", path);
      }
    }
    return Status::Internal("unmount " + path + ": too many mounts upon each other");
  }

  Result<bool> IsMounted(const std::string& path) override { return IsMountPoint(path); }
};

}  // namespace

std::unique_ptr<Mounter> MakeMounter() { return std::make_unique<KernelMounter>(); }

}  // namespace cox::kubelet
