// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "object/type/value.h"

namespace cox::apiserver {

// What --admission-control-config-file says: for each plugin that it names, its configuration.
using PluginConfigs = std::map<std::string, Value, std::less<>>;

// Reads an AdmissionConfiguration. A plugin's part stands in it (`configuration`) or in a file of
// its own (`path`), which `read_file` reads. BadRequest with what is wrong. What the parts hold is
// the plugins' to check: see CheckPluginConfigs.
Result<PluginConfigs> ReadAdmissionConfig(
    std::string_view text, const std::function<Result<std::string>(const std::string&)>& read_file);

}  // namespace cox::apiserver
