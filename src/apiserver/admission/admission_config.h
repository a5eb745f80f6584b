// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/type/value.h"

namespace cox::apiserver {

// The contents of --admission-control-config-file: the configuration of each listed plugin.
using PluginConfigs = std::map<std::string, Value, std::less<>>;

// Parses an AdmissionConfiguration. The configuration of a plugin is embedded (`configuration`) or
// in another file (`path`), which `read_file` reads. Errors: BadRequest. The configurations of the
// plugins are not validated here: see CheckPluginConfigs.
Result<PluginConfigs> ReadAdmissionConfig(
    std::string_view text, const std::function<Result<std::string>(const std::string&)>& read_file);

}  // namespace cox::apiserver
