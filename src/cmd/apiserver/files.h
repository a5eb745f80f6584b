// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cox::cmd {

// A secret file is created with mode 0600, so that other users can never read it.
Status WriteFile(const std::filesystem::path& path, const std::string& text, bool secret);

}  // namespace cox::cmd
