// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// Cluster IPs and node ports are not the strategy's: see alloc/service_allocation.h, which the
// registry calls before it.
StrategyPtr NewServiceStrategy();
StrategyPtr NewEndpointsStrategy();

}  // namespace cox::apiserver
