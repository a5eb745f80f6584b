// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

// A KubeProxyConfiguration as the flags that say the same, by name. Sections of other modes and
// what has no meaning here are passed over. BadRequest naming the field for what upstream does not
// know either, or what is not of its type.
Result<std::vector<std::pair<std::string, std::string>>> ReadProxyConfig(std::string_view text);

}  // namespace cox::cmd
