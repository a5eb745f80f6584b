// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "coxswain/config.h"
#include "sdk/config/environment.h"

namespace cox::sdk {

// LoadConfig and InClusterConfig with a given environment.
Result<Config> Load(const ConfigOptions& options, const Environment& environment);
Result<Config> InCluster(const Environment& environment);

}  // namespace cox::sdk
