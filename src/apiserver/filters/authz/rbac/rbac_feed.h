// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/rbac/rbac_authorizer.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

// Watches roles and bindings in the server's caches and publishes an index to `authorizer` until
// `ctx` stops. Updates are incremental; after a cache reset the whole cache is read.
void RunRbacFeed(Context& ctx, const Registry& registry, RbacAuthorizer& authorizer);

}  // namespace cox::apiserver
