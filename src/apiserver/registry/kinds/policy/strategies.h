// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of policy/v1 that are stored. Evictions are not: they are a way to delete pods.
namespace cox::apiserver {

StrategyPtr NewPodDisruptionBudgetStrategy();

}  // namespace cox::apiserver
