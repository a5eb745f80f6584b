// SPDX-License-Identifier: Apache-2.0
#include "kubelet/logs/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/strings.h"

namespace cox::kubelet {
namespace {

constexpr size_t kBlock = size_t{64} * 1024;
// Runtimes split lines at 16 KiB. A longer line than this is not a log line.
constexpr size_t kMaxLine = size_t{1024} * 1024;
// The polling interval for the container's state. It can be long, because the runtime usually
// closes the log when the container ends, which wakes the reader. It is short after a close,
// because the runtime closes the log shortly before it reports the end.
constexpr int kIdleMs = 5000;
constexpr int kQuietMs = 200;
constexpr int kEndingMs = 50;

// Waits for changes in the directory of a log.
class FolderWatch {
 public:
  FolderWatch(const Context& ctx, const std::string& folder)
      : ctx_(ctx),
        inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
        wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        stop_(ctx.OnStop([this] { eventfd_write(wake_.get(), 1); })) {
    inotify_add_watch(inotify_.get(), folder.c_str(),
                      IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM |
                          IN_DELETE_SELF | IN_ONLYDIR);
  }

  // True if a file was closed: its writer may have ended.
  bool Await(int at_most_ms) {
    pollfd waits[2] = {{inotify_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (ctx_.Done() || poll(waits, 2, at_most_ms) <= 0) return false;
    bool closed = false;
    alignas(inotify_event) char buffer[4096];
    for (;;) {
      const ssize_t size = read(inotify_.get(), buffer, sizeof(buffer));
      if (size <= 0) return closed;
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        closed = closed || (event->mask & (IN_CLOSE_WRITE | IN_DELETE_SELF)) != 0;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
  }

 private:
  const Context ctx_;
  const Fd inotify_;
  const Fd wake_;
  const StopHandle stop_;  // last, because it uses the others
};

// A symbolic link is not followed, and a FIFO does not block: a process that can write to the
// directory of the logs must not make the kubelet read another file or wait.
int Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(fd);
    return -1;
  }
  return fd;
}

// Whether `path` now refers to a different file than `fd`.
bool WasReplaced(int fd, const std::string& path) {
  struct stat open_file {};
  struct stat named {};
  if (fstat(fd, &open_file) != 0 || lstat(path.c_str(), &named) != 0) return false;
  return open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev;
}

// Reads one log across rotations.
class Reader {
 public:
  Reader(const Context& ctx, const std::string& path, const LogOptions& options,
         const std::function<Status(std::string bytes)>& write)
      : ctx_(ctx), path_(path), writer_(options), write_(write) {}

  Status Begin(const LogOptions& options) {
    file_.Reset(Open(path_));
    if (file_.get() < 0) return Missing();
    if (!options.tail_lines) return {};
    COX_ASSIGN_OR_RETURN(const int64_t at, FindTail(file_.get(), *options.tail_lines));
    lseek(file_.get(), at, SEEK_SET);
    return {};
  }
  bool opened() const { return file_.get() >= 0; }
  bool done() const { return done_; }
  Status Missing() const {
    return Status::NotFound("the log " + Quote(path_) + " does not exist (any more)");
  }

  // Sends the available lines. True if there were any.
  Result<bool> ReadToEnd() {
    bool any = false;
    std::string block(kBlock, '\0');
    while (!done_) {
      if (ctx_.Done()) return ctx_.status();
      const ssize_t size = read(file_.get(), block.data(), block.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return Status::Internal("cannot read the log " + Quote(path_));
      if (size == 0) break;
      any = true;
      COX_RETURN_IF_ERROR(Take(std::string_view(block).substr(0, static_cast<size_t>(size))));
    }
    return any;
  }

  // Opens the new file after a rotation. False if there is none.
  Result<bool> Next() {
    if (!WasReplaced(file_.get(), path_)) return false;
    // The old file may have grown between its last read and the rotation.
    COX_RETURN_IF_ERROR(ReadToEnd().status());
    const int next = Open(path_);
    if (next < 0) return false;
    file_.Reset(next);
    rest_.clear();
    return true;
  }

 private:
  Status Take(std::string_view bytes) {
    std::string out;
    for (;;) {
      const size_t end = bytes.find('\n');
      if (end == std::string_view::npos) break;
      std::string_view line = bytes.substr(0, end);
      if (!rest_.empty()) {
        rest_.append(line);
        line = rest_;
      }
      done_ = !writer_.Add(line, &out);
      rest_.clear();
      bytes.remove_prefix(end + 1);
      if (done_) break;
    }
    if (!done_ && rest_.size() < kMaxLine) rest_.append(bytes);
    return out.empty() ? Status() : write_(std::move(out));
  }

  const Context ctx_;
  const std::string path_;
  LogWriter writer_;
  const std::function<Status(std::string bytes)>& write_;
  Fd file_;
  std::string rest_;  // an incomplete line
  bool done_ = false;
};

}  // namespace

Result<int64_t> FindTail(int fd, int64_t lines) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return Status::Internal("cannot look at the log");
  int64_t end = info.st_size;
  if (lines <= 0) return end;
  std::string block(kBlock, '\0');
  int64_t found = 0;
  bool last = true;  // the last byte of the file, where a newline does not begin another line
  while (end > 0) {
    const int64_t begin =
        end > static_cast<int64_t>(kBlock) ? end - static_cast<int64_t>(kBlock) : 0;
    const ssize_t size = pread(fd, block.data(), static_cast<size_t>(end - begin), begin);
    if (size != end - begin) return Status::Internal("cannot read the end of the log");
    for (int64_t at = size - 1; at >= 0; --at) {
      if (block[static_cast<size_t>(at)] == '\n' && !last && ++found == lines) {
        return begin + at + 1;
      }
      last = false;
    }
    end = begin;
  }
  return 0;
}

Status ReadLog(const Context& ctx, const std::string& path, const LogOptions& options,
               const std::function<bool()>& running,
               const std::function<Status(std::string bytes)>& write) {
  Reader reader(ctx, path, options, write);
  if (!options.follow) {
    COX_RETURN_IF_ERROR(reader.Begin(options));
    return reader.ReadToEnd().status();
  }
  // Watch before reading, so that a write between reading and waiting wakes the watch.
  FolderWatch folder(ctx, std::filesystem::path(path).parent_path());
  bool ended = false;
  int pause = kEndingMs;
  for (;;) {
    if (ctx.Done()) return ctx.status();
    if (!reader.opened() && !reader.Begin(options).ok()) {
      if (ended) return reader.Missing();
    } else {
      COX_ASSIGN_OR_RETURN(const bool any, reader.ReadToEnd());
      if (reader.done()) return {};
      COX_ASSIGN_OR_RETURN(const bool next, reader.Next());
      if (next) continue;
      if (ended) return {};
      // While lines arrive, the container's state is not checked.
      if (any) {
        pause = folder.Await(kQuietMs) ? kEndingMs : kQuietMs;
        continue;
      }
    }
    // Read once more after the container has ended, for its last lines.
    ended = !running();
    if (ended) continue;
    const bool closed = folder.Await(pause);
    pause = closed ? kEndingMs : std::min(pause * 2, kIdleMs);
  }
}

}  // namespace cox::kubelet
