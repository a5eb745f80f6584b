// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/scope.h"

namespace cox {

// A file larger than this is not one that we were meant to read.
inline constexpr size_t kMaxWatchedFileBytes = size_t{16} * 1024 * 1024;

// The whole file, with a bound. NotFound, naming the file and why, if it cannot be read.
Result<std::string> ReadBoundedFile(const std::filesystem::path& path,
                                    size_t limit = kMaxWatchedFileBytes);

// Tells when one of a few files has other contents than before. Most want WatchedFile
// (base/watched_file.h), which keeps what is made of them.
//
// Guarantees: a change that ends in a closed file, a rename over it, or a symbolic link on the way
//   to it that points elsewhere (as volumes of Secrets and ConfigMaps change) is noticed at once,
//   by the kernel's word; so is a folder that went and came back. What the kernel does not tell
//   (network file systems, no watches left) is noticed within `Options::read_again`.
// Threads: the callback runs on a thread of the watch's, one call at a time; it may block.
// Lifetime: no call runs, nor will, when the destructor has returned.
class FileWatch {
 public:
  struct Options {
    std::string name;  // of the thread, and in log lines: "client-ca"
    std::vector<std::filesystem::path> paths;
    // Even if nothing was heard of a change.
    Clock::Duration read_again = std::chrono::minutes(1);
  };
  // Either the contents, in the order of the paths, or why one cannot be read. Each state once.
  using OnChange = std::function<void(const Result<std::vector<std::string>>& texts)>;

  // Reads the files; then calls `on_change` for what differs from that. The first error is
  // returned, and nothing watched.
  static Result<std::unique_ptr<FileWatch>> Start(
      const Context& ctx, Options options,
      const std::function<Status(std::span<const std::string> texts)>& first, OnChange on_change);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  struct Private {};

 public:
  // For Start.
  FileWatch(Private, const Context& ctx, Options options, OnChange on_change);

 private:
  void Run(Context& ctx);
  void WatchFolders(const Context& ctx);
  void WatchFolder(const std::filesystem::path& folder, const std::string& name);
  // What the kernel has to say; true if it is about our files.
  bool TakeEvents();
  Result<std::vector<std::string>> ReadAll() const;
  // True if this is not what was seen last.
  bool IsNews(const Result<std::vector<std::string>>& texts);
  void Wake() const;

  const Options options_;
  const OnChange on_change_;
  const Fd inotify_;
  const Fd wake_;
  struct Folder {
    std::filesystem::path path;
    std::set<std::string> names;  // that matter
  };
  // The thread's own: the folders that are watched, and what was seen last.
  std::map<int, Folder> folders_;
  bool warned_ = false;
  size_t seen_ = 0;
  Scope scope_;
};

}  // namespace cox
