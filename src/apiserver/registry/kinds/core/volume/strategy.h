// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

StrategyPtr NewPersistentVolumeStrategy();
StrategyPtr NewPersistentVolumeClaimStrategy();

}  // namespace cox::apiserver
