// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

// Writes the files below `folder`, making folders on the way. AlreadyExists, with nothing written,
// if one is there and would be changed, unless `replace`; files that say the same are left alone.
Status WriteFiles(const std::filesystem::path& folder,
                  const std::vector<std::pair<std::string, std::string>>& files, bool replace);

}  // namespace cox::cmd
