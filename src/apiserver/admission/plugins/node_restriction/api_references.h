// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

namespace cox::apiserver {

// A sort of objects that a Pod would have its node read from the API: "secrets", "csidrivers (via
// CSI volumes)"; the first that is found. Empty if it needs none, as a Pod must that its node made
// up. A volume of a sort that is not known here counts as one that does.
std::string ApiReferenceOf(const core::v1::PodSpec& spec);

}  // namespace cox::apiserver
