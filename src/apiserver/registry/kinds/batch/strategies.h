// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/batch/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of batch/v1.
namespace cox::apiserver {

StrategyPtr NewJobStrategy();
StrategyPtr NewCronJobStrategy();

// Sets the status of conditions in `policy` that have none to the default, True.
void SetPodFailurePolicyDefaults(batch::v1::PodFailurePolicy& policy);

}  // namespace cox::apiserver
