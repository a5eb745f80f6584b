// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace cox::kubelet {

struct FileContent {
  std::string data;
  mode_t mode = 0644;
  std::optional<uid_t> owner;

  bool operator==(const FileContent&) const = default;
};
// By path relative to the volume: "a", "dir/b".
using Payload = std::map<std::string, FileContent>;

// Writes all files of a volume atomically: a reader sees either all old or all new files.
//
//   <target>/..2026_01_02_03_04_05.1234567890/   the files
//   <target>/..data -> ..2026_01_02_03_04_05.1234567890
//   <target>/a -> ..data/a
//
// The rename of ..data replaces all files at once. Returns false, without any change, if the
// content is already equal.
//
// `group`: the group that can read the files (fsGroup).
// Errors: BadRequest for paths that leave the volume or begin with "..", before anything is
//   written. The next call cleans up after a crash.
Result<bool> WriteAtomically(const std::string& target, const Payload& payload,
                             std::optional<gid_t> group, Clock::WallTime now);

}  // namespace cox::kubelet
