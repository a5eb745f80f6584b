// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/fd.h"

namespace cox::kubelet {

namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// A limit for recursion; deeper than any legitimate volume.
constexpr int kMaxDepth = 1000;

Result<std::vector<std::string>> Names(int fd, const std::string& path) {
  const int copy = ::openat(fd, ".", kOpenDirectory);
  if (copy < 0) return FileError("open", path);
  DIR* dir = ::fdopendir(copy);
  if (dir == nullptr) {
    ::close(copy);
    return FileError("open", path);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(dir);
  if (error != 0) return FileError("read", path, error);
  std::sort(names.begin(), names.end());
  return names;
}

// Does not follow symlinks. Returns -1 and sets errno on errors.
int Look(int at, const char* name, struct statx* out) {
  return ::statx(at, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MODE, out);
}
bool IsMountRoot(const struct statx& s) { return (s.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0; }

// Each level of recursion needs a file descriptor, and containers control the depth: deeper
// directories are first moved up to the root of the tree.
constexpr int kMaxRemoving = 100;

struct Removal {
  int root = -1;       // a file descriptor of the root
  bool moved = false;  // a directory was moved into the root
};

Status MoveUp(int at, const std::string& name, const std::string& path, Removal& removal) {
  std::random_device random;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::string up = "..deep-" + std::to_string(random()) + "-" + std::to_string(random());
    if (::renameat(at, name.c_str(), removal.root, up.c_str()) == 0) {
      removal.moved = true;
      return {};
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
  }
  return FileError("move", path);
}

Status RemoveAt(int at, const std::string& name, const std::string& path, int depth,
                Removal& removal) {
  struct statx s {};
  if (Look(at, name.c_str(), &s) != 0) {
    return errno == ENOENT ? Status() : FileError("stat", path);
  }
  if (IsMountRoot(s)) {
    return Status::Internal("remove " + path + ": something is mounted there; unmount it first");
  }
  if (!S_ISDIR(s.stx_mode)) {
    if (::unlinkat(at, name.c_str(), 0) != 0 && errno != ENOENT) return FileError("remove", path);
    return {};
  }
  if (depth > kMaxRemoving) return MoveUp(at, name, path, removal);
  {
    const Fd fd(::openat(at, name.c_str(), kOpenDirectory));
    // O_NOFOLLOW fails if a container replaced the directory by a symlink.
    if (!fd.valid()) return FileError("open", path);
    struct statx opened {};
    if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_TYPE, &opened) != 0) {
      return FileError("stat", path);
    }
    if (IsMountRoot(opened)) {
      return Status::Internal("remove " + path + ": something is mounted there; unmount it first");
    }
    if (depth == 0) removal.root = fd.get();
    do {
      if (depth == 0) removal.moved = false;
      COX_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(fd.get(), path));
      for (const std::string& child : names) {
        COX_RETURN_IF_ERROR(RemoveAt(fd.get(), child, path + "/" + child, depth + 1, removal));
      }
    } while (depth == 0 && removal.moved);
  }
  if (::unlinkat(at, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return FileError("remove", path);
  }
  return {};
}

Status SetGroupAt(int fd, const std::string& path, gid_t group, bool read_only, int depth) {
  if (depth > kMaxDepth) return Status::Internal("change group of " + path + ": too deep");
  struct stat s {};
  if (::fstat(fd, &s) != 0) return FileError("stat", path);
  if (::fchownat(fd, "", static_cast<uid_t>(-1), group, AT_EMPTY_PATH) != 0) {
    return FileError("chown", path);
  }
  const bool directory = S_ISDIR(s.st_mode);
  mode_t wanted = (s.st_mode & 07777) | (read_only ? 0440 : 0660);
  if (directory) wanted |= S_ISGID | 0110;
  if (::fchmod(fd, wanted) != 0) return FileError("chmod", path);
  if (!directory) return {};
  COX_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(fd, path));
  for (const std::string& name : names) {
    struct statx child {};
    const std::string below = path + "/" + name;
    if (Look(fd, name.c_str(), &child) != 0) return FileError("stat", below);
    if (S_ISLNK(child.stx_mode)) {
      // Changes the symlink itself, not its target.
      if (::fchownat(fd, name.c_str(), static_cast<uid_t>(-1), group, AT_SYMLINK_NOFOLLOW) != 0) {
        return FileError("chown", below);
      }
      continue;
    }
    if (!S_ISDIR(child.stx_mode) && !S_ISREG(child.stx_mode)) continue;
    const Fd opened(::openat(fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened.valid()) return FileError("open", below);
    COX_RETURN_IF_ERROR(SetGroupAt(opened.get(), below, group, read_only, depth + 1));
  }
  return {};
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status MakeDirectories(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  if (errno == ENOENT && path.size() > 1) {
    COX_RETURN_IF_ERROR(MakeDirectories(ParentOf(path), mode));
    if (::mkdir(path.c_str(), mode) == 0) return {};
  }
  if (errno != EEXIST) return FileError("mkdir", path);
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return FileError("stat", path);
  return S_ISDIR(s.st_mode) ? Status() : FileError("mkdir", path, ENOTDIR);
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  const Fd fd(::open(path.c_str(), kOpenDirectory));
  if (!fd.valid()) {
    if (errno == ENOENT) return std::vector<std::string>();
    return FileError("open", path);
  }
  return Names(fd.get(), path);
}

Result<bool> IsMountPoint(const std::string& path) {
  struct statx s {};
  if (Look(AT_FDCWD, path.c_str(), &s) != 0) {
    if (errno == ENOENT) return false;
    return FileError("stat", path);
  }
  return IsMountRoot(s);
}

Status RemoveTree(const std::string& path) {
  const std::string parent = ParentOf(path);
  const Fd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return errno == ENOENT ? Status() : FileError("open", parent);
  const size_t slash = path.find_last_of('/');
  Removal removal;
  return RemoveAt(fd.get(), slash == std::string::npos ? path : path.substr(slash + 1), path, 0,
                  removal);
}

Status SetGroup(const std::string& path, gid_t group, bool read_only) {
  const Fd fd(::open(path.c_str(), kOpenDirectory));
  if (!fd.valid()) return FileError("open", path);
  return SetGroupAt(fd.get(), path, group, read_only, 0);
}

Status WriteWhole(const std::string& path, std::string_view bytes, mode_t mode) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return FileError("create", path);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("write", path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  // fchmod, because the umask would restrict the mode of open.
  if (::fchmod(fd.get(), mode) != 0) return FileError("chmod", path);
  return {};
}

}  // namespace cox::kubelet
