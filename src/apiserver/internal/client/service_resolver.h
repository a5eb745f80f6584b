// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/registry.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// Finds Services in the registry's cache and gives their cluster address: the API server need not
// ask the cluster's DNS, which may itself depend on the webhook. A Service without an address of
// its own (headless) and one of type ExternalName are left to the system's resolver.
//
// Errors: `service "web" not found` (NotFound); `no service port 443 found for service "web"`
//   (ServiceUnavailable). `registry` outlives the resolver.
ServiceResolver ResolveServices(const Registry& registry);

}  // namespace cox::apiserver
