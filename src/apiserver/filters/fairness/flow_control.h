// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "api/flowcontrol/v1.h"

// How requests share a server unless somebody decides otherwise: the priority levels and flow
// schemas every cluster begins with.
namespace cox::apiserver {

// The annotation of an object whose spec the server keeps as it suggests, while it says "true".
inline constexpr std::string_view kAutoUpdateSpec = "apf.kubernetes.io/autoupdate-spec";

List<flowcontrol::v1::PriorityLevelConfiguration> BootstrapPriorityLevels();
List<flowcontrol::v1::FlowSchema> BootstrapFlowSchemas();

}  // namespace cox::apiserver
