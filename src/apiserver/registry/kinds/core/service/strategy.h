// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// The strategy does not allocate cluster IPs and node ports: see alloc/service_allocation.h, which
// the registry calls before the strategy.
StrategyPtr NewServiceStrategy();
StrategyPtr NewEndpointsStrategy();

}  // namespace cox::apiserver
