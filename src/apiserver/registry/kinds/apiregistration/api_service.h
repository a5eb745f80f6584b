// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiregistration/v1.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

StrategyPtr NewApiServiceStrategy();

// Says that `service`, which this server answers itself, is available. Keeps the time of an earlier
// condition that said the same.
void SetLocalAvailable(apiregistration::v1::APIService& service, const Time& now);

// Sets the condition Available, likewise. True if something changed.
bool SetAvailable(apiregistration::v1::APIService& service,
                  apiregistration::v1::APIServiceCondition condition, const Time& now);

}  // namespace cox::apiserver
