// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

class AdmissionChain;

// A control loop inside the API server, for the few states that the API itself keeps: conditions
// of FlowSchemas, of definitions, of API services.
//
// Edge-triggered: woken by changes of what it watches. Level-driven: `reconcile` looks at all there
// is and never at what has changed. With resync: it runs again after a while also when nothing
// woke it, and soon after a failure.
struct OwnLoop {
  std::string name;
  std::vector<const ServedResource*> watches;
  std::function<Status(Context& ctx)> reconcile;
  std::chrono::seconds resync{600};
};

// Runs until `ctx` stops. The caches of what it watches are ready.
void RunOwnLoop(Context& ctx, const OwnLoop& loop);

}  // namespace cox::apiserver
