// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// Pods, with /status, /ephemeralcontainers and /resize.
StrategyPtr NewPodStrategy();
StrategyPtr NewPodTemplateStrategy();

}  // namespace cox::apiserver
