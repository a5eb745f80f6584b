// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "controllers/lifecycle/namespace/remains.h"
#include "coxswain/client.h"
#include "coxswain/discovery.h"

namespace cox::controllers {

// Deletes all objects in the namespace and returns those that remain. Pods are deleted first:
// objects that they may use during their grace period (ConfigMaps, Secrets, Services,
// NetworkPolicies) are kept until all Pods are gone.
//
// Threads: may be called concurrently.
// Errors: returned in Remains; a resource that cannot be deleted does not block the others.
Remains DeleteContent(Context& ctx, Client& client, const std::string& ns);

}  // namespace cox::controllers
