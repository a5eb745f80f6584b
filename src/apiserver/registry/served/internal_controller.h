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

// A controller inside the API server, for the statuses that the API server maintains itself:
// conditions of FlowSchemas, CustomResourceDefinitions and APIServices.
//
// It is edge-triggered: changes of the watched resources start `reconcile`. It is level-driven:
// `reconcile` reads the whole state and does not depend on what has changed. With resync: it also
// runs periodically, and soon after a failure.
struct InternalController {
  std::string name;
  std::vector<const ServedResource*> watches;
  std::function<Status(Context& ctx)> reconcile;
  std::chrono::seconds resync{600};
};

// Runs until `ctx` stops. REQUIRES: the caches of the watched resources are ready.
void RunInternalController(Context& ctx, const InternalController& controller);

}  // namespace cox::apiserver
