// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/files/sub_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "base/strings.h"

namespace cox::kubelet {

namespace {

// Returns -1 and sets errno on errors.
int OpenBeneath(int root, const std::string& path, uint64_t flags) {
  struct open_how how {};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    // EAGAIN: a concurrent rename made the resolution of ".." unsafe; retry.
    if (errno != EAGAIN) return -1;
  }
  errno = EAGAIN;
  return -1;
}

std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts = Split(path, '/').ToStrings();
  std::erase_if(parts, [](const std::string& part) { return part.empty() || part == "."; });
  return parts;
}

// For kernels before 5.6, without openat2: element by element, without following any symlink.
Result<Fd> Walk(int root, const std::string& path) {
  Fd at(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& part : PartsOf(path)) {
    Fd next(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return FileError("open", path);
    struct stat s {};
    if (::fstat(next.get(), &s) != 0) return FileError("stat", path);
    if (S_ISLNK(s.st_mode)) return FileError("open", path, ELOOP);
    at = std::move(next);
  }
  return at;
}

Result<Fd> Open(int root, const std::string& path) {
  const int fd = OpenBeneath(root, path, O_PATH);
  if (fd >= 0) return Fd(fd);
  if (errno == ENOSYS) return Walk(root, path);
  if (errno == EXDEV || errno == ELOOP) {
    return Status::BadRequest("subPath " + Quote(path) + " leads out of the volume");
  }
  return FileError("open", path);
}

// Creates a directory with the exact mode, regardless of the umask. An existing entry is not
// changed.
Status MakeOne(int at, const std::string& name, mode_t mode) {
  if (::mkdirat(at, name.c_str(), 0700) != 0) {
    // This may be a dangling symlink; then the following Open fails.
    return errno == EEXIST ? Status() : FileError("mkdir", name);
  }
  const Fd made(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.valid()) return FileError("open", name);
  return ::fchmod(made.get(), mode) == 0 ? Status() : FileError("chmod", name);
}

// Creates the missing directories of `path` with the mode of the volume, each relative to a handle
// of its parent.
Status MakeBeneath(int root, const std::string& path) {
  struct stat volume {};
  if (::fstat(root, &volume) != 0) return FileError("stat", path);
  const mode_t mode = volume.st_mode & (0777 | S_ISGID);
  std::string so_far;
  Fd at(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at.valid()) return FileError("open", path);
  for (const std::string& part : PartsOf(path)) {
    so_far += (so_far.empty() ? "" : "/") + part;
    Result<Fd> there = Open(root, so_far);
    if (there.status().Is(Reason::kNotFound)) {
      COX_RETURN_IF_ERROR(MakeOne(at.get(), part, mode));
      there = Open(root, so_far);
    }
    if (!there.ok()) return there.status();
    at = std::move(*there);
  }
  return {};
}

}  // namespace

Status CheckRelativePath(std::string_view path) {
  if (path.starts_with('/')) return Status::BadRequest("must be a relative path: " + Quote(path));
  for (const std::string_view part : Split(path, '/')) {
    if (part == "..") return Status::BadRequest("must not contain '..': " + Quote(path));
  }
  if (path.find('\0') != std::string_view::npos) {
    return Status::BadRequest("must not contain a NUL: " + Quote(path));
  }
  return {};
}

Result<Fd> OpenSubPath(const std::string& volume, const std::string& sub_path) {
  COX_RETURN_IF_ERROR(CheckRelativePath(sub_path));
  const Fd root(::open(volume.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return FileError("open", volume);
  const std::vector<std::string> parts = PartsOf(sub_path);
  if (parts.empty()) return Open(root.get(), ".");
  const std::string clean = Join(parts, "/");
  Result<Fd> found = Open(root.get(), clean);
  if (!found.status().Is(Reason::kNotFound)) return found;
  COX_RETURN_IF_ERROR(MakeBeneath(root.get(), clean));
  return Open(root.get(), clean);
}

}  // namespace cox::kubelet
