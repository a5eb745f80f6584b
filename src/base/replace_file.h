// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cox {

// Replaces the file atomically, also if the machine crashes meanwhile. Secrets are created with
// mode 0600, so that other users can never read them. Creates missing directories.
Status ReplaceFile(const std::filesystem::path& path, const std::string& text, bool secret);

}  // namespace cox
