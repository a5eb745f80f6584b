// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cox::cmd {

// Converts a KubeProxyConfiguration to the equivalent flags, by name. Sections of other proxy modes
// and fields without meaning here are ignored. Returns BadRequest with the field's name for fields
// that upstream does not have, and for wrong types.
Result<std::vector<std::pair<std::string, std::string>>> ReadProxyConfig(std::string_view text);

}  // namespace cox::cmd
