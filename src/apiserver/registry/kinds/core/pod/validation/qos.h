// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

namespace cox::apiserver {

// The QoS class of a pod, which determines the order of eviction when a node runs out of memory:
//   BestEffort   nothing is requested or limited
//   Guaranteed   every container has limits for both, equal to its requests
//   Burstable    all other pods
// Resources of the pod as a whole, if set, count instead of those of its containers.
std::string_view ComputePodQOS(const core::v1::PodSpec& spec);

}  // namespace cox::apiserver
