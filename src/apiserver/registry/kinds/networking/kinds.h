// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of networking.k8s.io/v1, one file each; strategies.cc lists them.
namespace cox::apiserver {

StrategyPtr NewIngressStrategy();
StrategyPtr NewIngressClassStrategy();
StrategyPtr NewNetworkPolicyStrategy();
StrategyPtr NewIpAddressStrategy();
StrategyPtr NewServiceCidrStrategy();

}  // namespace cox::apiserver
