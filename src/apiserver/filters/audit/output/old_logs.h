// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/status.h"

// The files that a LogFile left behind.
namespace cox::apiserver {

// The name that `path` gets when it is put aside at `when`: one that no file has.
std::filesystem::path BackupName(const std::filesystem::path& path, Clock::WallTime when);

struct KeepOldLogs {
  int64_t max_age_days = 0;  // 0: no limit
  int64_t max_backups = 0;   // 0: no limit
  bool compress = false;
};
// Removes old files of `path` that are too old or too many, and packs the others if asked. Names
// tell how old they are; files with other names are nobody's business. Returns the first error.
Status TidyOldLogs(const std::filesystem::path& path, const KeepOldLogs& keep, Clock::WallTime now);

}  // namespace cox::apiserver
