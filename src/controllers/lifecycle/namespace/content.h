// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "controllers/lifecycle/namespace/remains.h"
#include "coxswain/client.h"
#include "coxswain/discovery.h"

namespace cox::controllers {

// Asks everything in the namespace to go, and says what is still there. Pods go first: what they
// may still use in their last seconds (config, secrets, services, network policies) stays until the
// last of them is gone.
//
// Threads: may be called concurrently. Errors are part of the result: one kind that cannot be
// deleted does not keep the others.
Remains DeleteContent(Context& ctx, Client& client, const std::string& ns);

}  // namespace cox::controllers
