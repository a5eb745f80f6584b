// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/rbac/rbac_authorizer.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

// Follows roles and bindings in the server's caches and publishes what they say to `authorizer`,
// until `ctx` stops. Each change costs as much as it touches; a cache that began anew is read
// whole.
void RunRbacFeed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer);

}  // namespace cox::apiserver
