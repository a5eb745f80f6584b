// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

// Writes the files below `folder` and creates missing folders. Returns AlreadyExists and writes
// nothing if a file exists with different content, unless `replace`. Files with equal content are
// not written.
Status WriteFiles(const std::filesystem::path& folder,
                  const std::vector<std::pair<std::string, std::string>>& files, bool replace);

}  // namespace cox::cmd
