// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/batch/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of batch/v1.
namespace cox::apiserver {

StrategyPtr NewJobStrategy();
StrategyPtr NewCronJobStrategy();

// Gives conditions in `policy` that say no status the one that is meant: True.
void SetPodFailurePolicyDefaults(batch::v1::PodFailurePolicy& policy);

}  // namespace cox::apiserver
