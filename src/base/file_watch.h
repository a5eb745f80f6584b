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

// The default size limit of ReadBoundedFile.
inline constexpr size_t kMaxWatchedFileBytes = size_t{16} * 1024 * 1024;

// Reads the whole file up to `limit`. NotFound, with the file and the reason, if it cannot be read.
Result<std::string> ReadBoundedFile(const std::filesystem::path& path,
                                    size_t limit = kMaxWatchedFileBytes);

// Reports changed contents of a few files. Most callers need WatchedFile (base/watched_file.h),
// which keeps the parsed contents.
//
// Guarantees: a change by closing a written file, by renaming over it, or by a changed symbolic
//   link on the path (as in Secret and ConfigMap volumes) is detected at once by inotify; so is a
//   folder that was deleted and recreated. Changes without inotify events (network file systems, no
//   watches left) are detected within `Options::read_again`.
// Threads: the callback runs on a thread of the watch, one call at a time; it may block.
// Lifetime: when the destructor has returned, no callback runs or will run.
class FileWatch {
 public:
  struct Options {
    std::string name;  // of the thread, and in log lines: "client-ca"
    std::vector<std::filesystem::path> paths;
    // The polling interval in addition to inotify.
    Clock::Duration read_again = std::chrono::minutes(1);
  };
  // Either the contents, in the order of the paths, or the error of a file that cannot be read.
  // Called once for each state.
  using OnChange = std::function<void(const Result<std::vector<std::string>>& texts)>;

  // Reads the files and passes them to `first`; later calls `on_change` for changed contents.
  // Returns the first error without starting the watch.
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
  // Reads inotify events; true if one concerns the watched files.
  bool TakeEvents();
  Result<std::vector<std::string>> ReadAll() const;
  // True if this differs from the last contents.
  bool HasChanged(const Result<std::vector<std::string>>& texts);
  void Wake() const;

  const Options options_;
  const OnChange on_change_;
  const Fd inotify_;
  const Fd wake_;
  struct Folder {
    std::filesystem::path path;
    std::set<std::string> names;  // the relevant names in it
  };
  // Used by the thread only: the watched folders, and the hash of the last contents.
  std::map<int, Folder> folders_;
  bool warned_ = false;
  size_t seen_ = 0;
  Scope scope_;
};

}  // namespace cox
