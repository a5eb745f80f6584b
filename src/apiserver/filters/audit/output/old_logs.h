// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/status.h"

// The rotated files of a LogFile.
namespace cox::apiserver {

// The name for `path` when it is rotated at `when`; no file with that name exists.
std::filesystem::path BackupName(const std::filesystem::path& path, Clock::WallTime when);

struct KeepOldLogs {
  int64_t max_age_days = 0;  // 0: no limit
  int64_t max_backups = 0;   // 0: no limit
  bool compress = false;
};
// Removes rotated files of `path` that exceed the limits, and compresses the others if enabled. The
// age is read from the file name; files with other names are ignored. Returns the first error.
Status TidyOldLogs(const std::filesystem::path& path, const KeepOldLogs& keep, Clock::WallTime now);

}  // namespace cox::apiserver
