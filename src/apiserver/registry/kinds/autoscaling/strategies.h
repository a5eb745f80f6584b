// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The stored kinds of autoscaling. Scale is not stored: see kinds/scale.
namespace cox::apiserver {

// Stored as autoscaling/v2, also served as v1 (conversion.h).
StrategyPtr NewHorizontalPodAutoscalerStrategy();

}  // namespace cox::apiserver
