// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

namespace cox::apiserver {

// How well a pod's cpu and memory are reserved, which decides who is killed first when a node runs
// out of memory:
//   BestEffort   nothing is requested or limited
//   Guaranteed   every container has limits for both, equal to its requests
//   Burstable    anything between
// Amounts of the pod as a whole, where given, count instead of those of its containers.
std::string_view ComputePodQOS(const core::v1::PodSpec& spec);

}  // namespace cox::apiserver
