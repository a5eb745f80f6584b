// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/options.h"
#include "coxswain/client.h"

namespace cox::cmd {

// Writes the objects that the API server does not create: RBAC roles of the components, and the
// endpoints of the API server. `admin` needs all permissions. Idempotent.
Status WriteClusterObjects(Context& ctx, Client& admin, const UpOptions& options);

}  // namespace cox::cmd
