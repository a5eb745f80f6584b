// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/core/v1.h"

namespace cox::controllers {

// Maximum number of addresses, which limits the size of the watch events.
inline constexpr size_t kMaxEndpointsAddresses = 1000;

// Computes the canonical subsets of a Service's Pods: each address with all its ports in one
// subset, addresses with equal ports grouped, everything sorted. Equal Pods give equal subsets.
// Pure.
List<core::v1::EndpointSubset> SubsetsOf(
    const core::v1::Service& service,
    const std::vector<std::shared_ptr<const core::v1::Pod>>& pods);

// Drops addresses over the limit, not-ready ones first. Returns true if any were dropped.
bool Truncate(List<core::v1::EndpointSubset>& subsets, size_t limit = kMaxEndpointsAddresses);

}  // namespace cox::controllers
