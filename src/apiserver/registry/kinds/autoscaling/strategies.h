// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of autoscaling that are stored. Scale is not: see registry/scale.
namespace cox::apiserver {

// Stored as autoscaling/v2, also served as v1 (horizontal_pod_autoscaler_v1.h).
StrategyPtr NewHorizontalPodAutoscalerStrategy();

}  // namespace cox::apiserver
