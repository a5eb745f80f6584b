// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cox::cmd {

// Puts `text` where `path` is, whole or not at all, also when the machine stops meanwhile. Secrets
// are readable by their owner alone, from the first byte on. Makes the folders above.
Status ReplaceFile(const std::filesystem::path& path, const std::string& text, bool secret);

}  // namespace cox::cmd
