// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apiregistration/v1.h"
#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

StrategyPtr NewApiServiceStrategy();

// Sets the condition Available of `service`, which this server serves itself. If the condition does
// not change, lastTransitionTime does not change either.
void SetLocalAvailable(apiregistration::v1::APIService& service, const Time& now);

// Sets the condition Available in the same way. True if something changed.
bool SetAvailable(apiregistration::v1::APIService& service,
                  apiregistration::v1::APIServiceCondition condition, const Time& now);

}  // namespace cox::apiserver
