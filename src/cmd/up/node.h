// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/components.h"
#include "cmd/up/options.h"
#include "coxswain/client.h"

namespace cox::cmd {

// Adds the components of a node: kubelet, proxy and DNS server, each with its own identity.
Status AddNode(Components& components, Client& admin, Context& ctx, const UpOptions& options);

// Waits until the Node's condition Ready is true.
Status AwaitNodeReady(Context& ctx, Client& client, const std::string& name);

}  // namespace cox::cmd
