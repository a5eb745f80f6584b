// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/flowcontrol/v1.h"

// The bootstrap priority levels and flow schemas of every cluster.
namespace cox::apiserver {

// If this annotation is "true", the server resets the object's spec to its default.
inline constexpr std::string_view kAutoUpdateSpec = "apf.kubernetes.io/autoupdate-spec";

List<flowcontrol::v1::PriorityLevelConfiguration> BootstrapPriorityLevels();
List<flowcontrol::v1::FlowSchema> BootstrapFlowSchemas();

}  // namespace cox::apiserver
