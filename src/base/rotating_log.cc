// SPDX-License-Identifier: Apache-2.0
#include "base/rotating_log.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace cox {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
constexpr mode_t kMode = 0600;

Status Failed(std::string_view what, const fs::path& path) {
  return Status::Internal("cannot " + std::string(what) + " " + path.string() + ": " +
                          std::strerror(errno));
}

fs::path OldFile(const fs::path& path, int number) {
  return path.string() + "." + std::to_string(number);
}

Status Rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return Failed("rename", from);
}

// Frees the name of the newest old file. The oldest one is overwritten.
Status ShiftOldFiles(const fs::path& path, int max_files) {
  for (int i = max_files - 1; i > 0; --i) {
    COX_RETURN_IF_ERROR(Rename(OldFile(path, i), OldFile(path, i + 1)));
  }
  return {};
}

// Appends to `to` from `offset` until the end of `from` or until `offset` is `end`.
Status Copy(const fs::path& path, int from, int to, off_t* offset, off_t end) {
  std::string block(size_t{256} * 1024, '\0');
  while (*offset < end) {
    const auto wanted = std::min<off_t>(end - *offset, static_cast<off_t>(block.size()));
    const ssize_t got = ::pread(from, block.data(), static_cast<size_t>(wanted), *offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path);
    if (got == 0) return {};
    for (ssize_t done = 0; done < got;) {
      const ssize_t written = ::write(to, block.data() + done, static_cast<size_t>(got - done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed("copy", path);
      done += written;
    }
    *offset += got;
  }
  return {};
}

// Removes the first `copied` bytes of `from`; if that is not possible, copies the rest and
// truncates.
Status RemoveCopied(const fs::path& path, int from, int to, off_t copied) {
  if (copied > 0 && ::fallocate(from, FALLOC_FL_COLLAPSE_RANGE, 0, copied) == 0) return {};
  off_t before = 0;
  do {
    before = copied;
    COX_RETURN_IF_ERROR(Copy(path, from, to, &copied, before + (off_t{1} << 30)));
  } while (copied != before);
  return ::ftruncate(from, 0) == 0 ? Status() : Failed("truncate", path);
}

}  // namespace

Result<std::unique_ptr<RotatingLogFile>> RotatingLogFile::Open(fs::path path,
                                                               LogFileLimits limits) {
  Fd file(::open(path.c_str(), kFlags, kMode));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return Failed("open", path);
  return std::make_unique<RotatingLogFile>(std::move(path), limits, std::move(file),
                                           static_cast<uint64_t>(info.st_size));
}

void RotatingLogFile::Write(std::string_view line) {
  MutexLock lock(mu_);
  const bool full = limits_.max_bytes > 0 && size_ > 0 && size_ + line.size() > limits_.max_bytes;
  if (full && size_ >= retry_at_) {
    // The error is not logged, because this is the log.
    if (!Rotate().ok()) retry_at_ = size_ + limits_.max_bytes / 16;
  }
  while (!line.empty()) {
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
      size_ += static_cast<uint64_t>(written);
    } else if (errno != EINTR) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

Status RotatingLogFile::Rotate() {
  // The new file is opened first: if that fails, nothing has changed.
  const fs::path next = path_.string() + ".new";
  Fd file(::open(next.c_str(), kFlags | O_TRUNC, kMode));
  if (!file.valid()) return Failed("open", next);
  Status moved = ShiftOldFiles(path_, limits_.max_files);
  if (moved.ok() && limits_.max_files > 0) moved = Rename(path_, OldFile(path_, 1));
  if (moved.ok()) moved = Rename(next, path_);
  if (!moved.ok()) {
    ::unlink(next.c_str());
    return moved;
  }
  file_ = std::move(file);
  size_ = 0;
  retry_at_ = 0;
  return {};
}

Status RotateAppendedLog(const fs::path& path, const LogFileLimits& limits) {
  const Fd from(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!from.valid()) return errno == ENOENT ? Status() : Failed("open", path);
  struct stat info {};
  if (::fstat(from.get(), &info) != 0) return Failed("look at", path);
  const bool large = static_cast<uint64_t>(info.st_size) > limits.max_bytes;
  if (limits.max_bytes == 0 || !large) return {};
  const bool keep = limits.max_files > 0;
  const fs::path copy = path.string() + ".new";
  const Fd to(::open(keep ? copy.c_str() : "/dev/null", kFlags | O_TRUNC, kMode));
  if (!to.valid()) return Failed("open", copy);
  // Only whole blocks can be removed, and not all of the file.
  const auto block = std::max<off_t>(info.st_blksize, 1);
  off_t copied = 0;
  Status done = Copy(path, from.get(), to.get(), &copied, (info.st_size - 1) / block * block);
  // The copy gets its name before the contents are removed: after a crash, lines exist twice.
  if (done.ok() && keep) done = ShiftOldFiles(path, limits.max_files);
  if (done.ok() && keep) done = Rename(copy, OldFile(path, 1));
  if (done.ok()) return RemoveCopied(path, from.get(), to.get(), copied);
  if (keep) ::unlink(copy.c_str());
  return done;
}

}  // namespace cox
