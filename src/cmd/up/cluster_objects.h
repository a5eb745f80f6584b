// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/options.h"
#include "coxswain/client.h"

namespace cox::cmd {

// Writes what the API server does not have of itself: what our components may do, and where the API
// itself is found. `admin` may do everything. Idempotent.
Status WriteClusterObjects(Context& ctx, Client& admin, const UpOptions& options);

}  // namespace cox::cmd
