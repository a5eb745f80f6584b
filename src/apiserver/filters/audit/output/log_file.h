// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"

namespace cox::apiserver {

// A file that lines are appended to, which begins anew when it is large. The old one stays beside
// it: "audit.log" becomes "audit-2026-01-02T15-04-05.000.log" (UTC), and later, where that was
// asked for, "….log.gz".
//
// Guarantees: a line is written by one write(2) and stands in one file; where the disk is full, no
//   part of it stays. Nobody but the owner may read the files.
// Threads: Append by one at a time. Old files are packed and removed on a thread of their own, so
//   that no request waits for it.
class LogFile {
 public:
  struct Options {
    std::string path;          // "-": standard output, which does not rotate
    uint64_t max_bytes = 0;    // 0: no limit
    int64_t max_age_days = 0;  // of old files; 0: no limit
    int64_t max_backups = 0;   // 0: no limit
    bool compress = false;
  };
  // Creates the file and its directory if they are not there.
  static Result<std::unique_ptr<LogFile>> Open(const Context& ctx, Options options);
  virtual ~LogFile() = default;

  // REQUIRES: `line` ends with its newline.
  virtual Status Append(std::string_view line) = 0;
  // Returns when what happened to old files so far has been seen to. For tests.
  virtual void Settle() = 0;
};

}  // namespace cox::apiserver
