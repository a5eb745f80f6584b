// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "apiserver/filters/audit/output/old_logs.h"
#include "base/mutex.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

Status Failed(std::string_view what, std::string_view path) {
  return Status::Internal("could not " + std::string(what) + " " + std::string(path) + ": " +
                          std::strerror(errno));
}

class LogFileImpl final : public LogFile {
 public:
  LogFileImpl(const Context& ctx, Options options)
      : options_(std::move(options)), clock_(ctx.clock()), scope_(ctx, "audit-log") {}
  ~LogFileImpl() override {
    scope_.Stop();
    scope_.Wait();
    Close();
  }

  Status Start() {
    if (options_.path == "-") {
      fd_ = STDOUT_FILENO;
      return {};
    }
    std::error_code error;
    const fs::path directory = fs::path(options_.path).parent_path();
    if (!directory.empty() && fs::create_directories(directory, error)) {
      fs::permissions(directory, fs::perms::owner_all, error);
    }
    COX_RETURN_IF_ERROR(OpenFile());
    return scope_.Go("audit-tidy", [this](Context& ctx) { Tidy(ctx); });
  }

  Status Append(std::string_view line) override {
    if (fd_ == STDOUT_FILENO) return WriteWhole(line);
    if (fd_ < 0) COX_RETURN_IF_ERROR(OpenFile());
    if (options_.max_bytes > 0 && size_ > 0 && size_ + line.size() > options_.max_bytes) {
      COX_RETURN_IF_ERROR(Rotate());
    }
    // Terminate a partial line, so that it does not corrupt the next one.
    if (torn_) COX_RETURN_IF_ERROR(WriteWhole("\n"));
    size_ += std::exchange(torn_, false) ? 1 : 0;
    Status written = WriteWhole(line);
    if (written.ok()) {
      size_ += line.size();
    } else {
      torn_ = ftruncate(fd_, static_cast<off_t>(size_)) != 0;
    }
    return written;
  }

  void Settle() override {
    MutexLock lock(mu_);
    done_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return tidied_ == rotations_; });
  }

 private:
  Status OpenFile() {
    fd_ = open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd_ < 0) return Failed("open", options_.path);
    struct stat info {};
    size_ = fstat(fd_, &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
    return {};
  }

  void Close() {
    if (fd_ > STDERR_FILENO) close(fd_);
    fd_ = -1;
  }

  Status Rotate() {
    const fs::path path(options_.path);
    std::error_code error;
    fs::rename(path, BackupName(path, clock_.Now()), error);
    if (error) {
      // An oversized file is better than lost events.
      return {};
    }
    Close();
    COX_RETURN_IF_ERROR(OpenFile());
    MutexLock lock(mu_);
    ++rotations_;
    changed_.NotifyOne();
    return {};
  }

  // One write(2), unless the kernel performs a partial write.
  Status WriteWhole(std::string_view line) {
    while (!line.empty()) {
      const ssize_t n = write(fd_, line.data(), line.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Failed("write to", options_.path);
      line.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  }

  void Tidy(Context& ctx) {
    // The first pass handles the rotated files of an earlier run.
    for (uint64_t seen = 0;; ++seen) {
      const Status status = TidyOldLogs(options_.path,
                                        {.max_age_days = options_.max_age_days,
                                         .max_backups = options_.max_backups,
                                         .compress = options_.compress},
                                        clock_.Now());
      if (!status.ok()) COX_ERROR(ctx.log(), status, "Could not tidy old audit logs");
      MutexLock lock(mu_);
      tidied_ = seen;
      done_.NotifyAll();
      if (!ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return rotations_ > seen; }).ok())
        return;
      seen = rotations_ - 1;
    }
  }

  const Options options_;
  Clock& clock_;
  // Used only by the thread that appends.
  int fd_ = -1;
  uint64_t size_ = 0;
  bool torn_ = false;  // the file ends with a part of a line
  Mutex mu_;
  CondVar changed_, done_;
  uint64_t rotations_ COX_GUARDED_BY(mu_) = 0;
  uint64_t tidied_ COX_GUARDED_BY(mu_) = 0;  // cleaned up as of this many rotations
  Scope scope_;
};

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::Open(const Context& ctx, Options options) {
  auto file = std::make_unique<LogFileImpl>(ctx, std::move(options));
  COX_RETURN_IF_ERROR(file->Start());
  return std::unique_ptr<LogFile>(std::move(file));
}

}  // namespace cox::apiserver
