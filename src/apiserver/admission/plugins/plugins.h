// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apiserver/admission/admission_parts.h"

// The admission plugins. Each has a folder of upstream's name and a factory New<Name>, which
// returns null if the plugin cannot work with the parts it gets. The table with their order is in
// plugins.cc.
namespace cox::apiserver {

// BadRequest if one of the names is not the name of a plugin.
Status CheckPluginNames(const std::vector<std::string>& names);
// BadRequest if a configuration is for an unknown plugin or for one that takes no configuration, or
// if the plugin rejects it.
Status CheckPluginConfigs(const PluginConfigs& configs);
// The plugins that are enabled by default and those in `enabled`, without those in `disabled`, in
// the order in which they are called.
AdmissionChain MakeAdmission(const AdmissionParts& parts,
                             const std::vector<std::string>& enabled = {},
                             const std::vector<std::string>& disabled = {});

}  // namespace cox::apiserver
