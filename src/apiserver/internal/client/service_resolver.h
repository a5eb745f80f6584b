// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/registry.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// Resolves Services to their cluster IP from the registry's cache, so that the API server does not
// depend on the cluster's DNS, which may itself depend on the webhook. The names of headless and
// ExternalName Services are left to the system's resolver.
//
// Errors: `service "web" not found` (NotFound); `no service port 443 found for service "web"`
//   (ServiceUnavailable).
// Lifetime: `registry` must outlive the resolver.
ServiceResolver ResolveServices(const Registry& registry);

}  // namespace cox::apiserver
