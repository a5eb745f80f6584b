// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/core/v1.h"

namespace cox::controllers {

// More than this in one Endpoints object would be too large for those who watch it.
inline constexpr size_t kMaxEndpointsAddresses = 1000;

// A Service's Pods as subsets, canonical: each address with all its ports in one subset, those with
// the same ports together, everything sorted. Equal Pods give equal subsets. Pure.
List<core::v1::EndpointSubset> SubsetsOf(
    const core::v1::Service& service,
    const std::vector<std::shared_ptr<const core::v1::Pod>>& pods);

// Drops addresses over the limit, those that are not ready first. True if there were any.
bool Truncate(List<core::v1::EndpointSubset>& subsets, size_t limit = kMaxEndpointsAddresses);

}  // namespace cox::controllers
