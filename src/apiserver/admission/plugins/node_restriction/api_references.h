// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

namespace cox::apiserver {

// The first kind of API object that the node must read for the Pod: "secrets", "csidrivers (via CSI
// volumes)". Empty if there is none, which is required for mirror Pods. Volumes of an unknown type
// count as a reference.
std::string ApiReferenceOf(const core::v1::PodSpec& spec);

}  // namespace cox::apiserver
