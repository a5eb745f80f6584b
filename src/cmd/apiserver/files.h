// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cox::cmd {

// A secret is readable by its owner alone, from its first byte on.
Status WriteFile(const std::filesystem::path& path, const std::string& text, bool secret);

}  // namespace cox::cmd
