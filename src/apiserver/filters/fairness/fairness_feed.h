// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/fairness/fairness.h"
#include "apiserver/registry/served/internal_controller.h"
#include "apiserver/registry/served/registry.h"

namespace cox::apiserver {

// Watches FlowSchemas and PriorityLevelConfigurations in the server's caches. Each change rebuilds
// the whole table, because the objects are few and change rarely.
InternalController FairnessFeed(const Registry& registry, PriorityAndFairness& fairness);

// The number and size of the objects under the path of a list, from the cache. Does not block.
WorkFacts ReadWorkFacts(const Registry& registry, const RequestInfo& info);

}  // namespace cox::apiserver
