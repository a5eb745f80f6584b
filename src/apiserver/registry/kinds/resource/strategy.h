// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of resource.k8s.io: dynamic resource allocation.
namespace cox::apiserver {

StrategyPtr NewDeviceClassStrategy();
StrategyPtr NewResourceClaimStrategy();
StrategyPtr NewResourceClaimTemplateStrategy();
StrategyPtr NewResourceSliceStrategy();

}  // namespace cox::apiserver
