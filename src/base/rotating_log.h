// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/fd.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"

// Log files of bounded size: the newest lines are in "x.log", older ones in "x.log.1", "x.log.2",
// ...
namespace cox {

struct LogFileLimits {
  uint64_t max_bytes = uint64_t{100} * 1024 * 1024;  // 0: no limit
  int max_files = 3;                                 // old files that are kept
};

// Writes lines to a file, and starts a new one before it would exceed its maximum size.
//
// Guarantees: each line is whole and in one file. A rotation that fails loses no line: the current
//   file continues to grow, and the rotation is tried again later. A line that cannot be written is
//   counted and dropped.
// Threads: all methods may be called concurrently.
class RotatingLogFile final : public LogSink {
 public:
  // Appends to an existing file. Internal if it cannot be opened.
  static Result<std::unique_ptr<RotatingLogFile>> Open(std::filesystem::path path,
                                                       LogFileLimits limits);
  RotatingLogFile(std::filesystem::path path, LogFileLimits limits, Fd file, uint64_t size)
      : path_(std::move(path)), limits_(limits), file_(std::move(file)), size_(size) {}

  void Write(std::string_view line) override;
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  Status Rotate() COX_REQUIRES(mu_);

  const std::filesystem::path path_;
  const LogFileLimits limits_;
  Mutex mu_;
  Fd file_ COX_GUARDED_BY(mu_);
  uint64_t size_ COX_GUARDED_BY(mu_);
  uint64_t retry_at_ COX_GUARDED_BY(mu_) = 0;  // the size at which a failed rotation is retried
  std::atomic<uint64_t> lost_ = 0;
};

// Rotates a log that another process has open in append mode and does not reopen. Does nothing if
// the log is missing or not larger than its maximum size. The contents are copied and then removed
// from the beginning of the file.
//
// Guarantees: no line is lost on file systems that can remove a range of a file (ext4, XFS); a line
//   may begin in the older file and end in the newer one. On other file systems, lines are lost
//   that are written between the end of the copy and the truncation.
Status RotateAppendedLog(const std::filesystem::path& path, const LogFileLimits& limits);

}  // namespace cox
