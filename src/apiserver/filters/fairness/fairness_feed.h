// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/fairness/fairness.h"
#include "apiserver/registry/served/own_loop.h"
#include "apiserver/registry/served/registry.h"

namespace cox::apiserver {

// Follows FlowSchemas and PriorityLevelConfigurations in the server's caches. Each change is a new
// table: there are few of them, and they change rarely.
OwnLoop FairnessFeed(const Registry& registry, PriorityAndFairness& fairness);

// How much there is under the path of a list, from the cache. Does not block.
WorkFacts ReadWorkFacts(const Registry& registry, const RequestInfo& info);

}  // namespace cox::apiserver
