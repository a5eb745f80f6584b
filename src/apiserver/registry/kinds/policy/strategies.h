// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The stored kinds of policy/v1. Evictions are not stored: they delete pods.
namespace cox::apiserver {

StrategyPtr NewPodDisruptionBudgetStrategy();

}  // namespace cox::apiserver
