// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

struct KubeletConfigFile {
  // The equivalent flags, by name.
  std::vector<std::pair<std::string, std::string>> flags;
  // Ignored fields, by path: "featureGates".
  std::vector<std::string> without_effect;
};

// Parses a KubeletConfiguration (YAML or JSON). Returns BadRequest for another kind or a field of
// the wrong type.
Result<KubeletConfigFile> ReadKubeletConfig(std::string_view text);

}  // namespace cox::cmd
