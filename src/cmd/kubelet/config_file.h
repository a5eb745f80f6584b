// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

struct KubeletConfigFile {
  // The flags that say the same, by name.
  std::vector<std::pair<std::string, std::string>> flags;
  // Fields that change nothing here, by path: "featureGates".
  std::vector<std::string> without_effect;
};

// Reads a KubeletConfiguration (YAML or JSON). BadRequest if it is none, or a field is not of its
// type.
Result<KubeletConfigFile> ReadKubeletConfig(std::string_view text);

}  // namespace cox::cmd
