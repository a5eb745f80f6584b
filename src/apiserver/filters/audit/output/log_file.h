// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"

namespace cox::apiserver {

// An append-only log file that rotates at a maximum size. On rotation "audit.log" is renamed to
// "audit-2026-01-02T15-04-05.000.log" (UTC), and compressed to "….log.gz" if that is enabled.
//
// Guarantees: A line is written by one write(2) and is never split across files. If the disk is
//   full, no partial line stays. The files have mode 0600.
// Threads: One thread at a time may call Append. A separate thread compresses and removes rotated
//   files, so that requests do not wait for it.
class LogFile {
 public:
  struct Options {
    std::string path;          // "-": standard output, which does not rotate
    uint64_t max_bytes = 0;    // 0: no limit
    int64_t max_age_days = 0;  // of rotated files; 0: no limit
    int64_t max_backups = 0;   // 0: no limit
    bool compress = false;
  };
  // Creates the file and its directory if they do not exist.
  static Result<std::unique_ptr<LogFile>> Open(const Context& ctx, Options options);
  virtual ~LogFile() = default;

  // REQUIRES: `line` ends with its newline.
  virtual Status Append(std::string_view line) = 0;
  // Waits until the cleanup after all rotations so far is done. For tests.
  virtual void Settle() = 0;
};

}  // namespace cox::apiserver
