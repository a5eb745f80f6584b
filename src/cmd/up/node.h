// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "base/result.h"
#include "cmd/up/components.h"
#include "cmd/up/options.h"
#include "coxswain/client.h"

namespace cox::cmd {

// What runs on every node: the agent, the proxy and the DNS server, each as who it is.
Status AddNode(Components& components, Client& admin, Context& ctx, const UpOptions& options);

// Until the Node's condition Ready is true.
Status AwaitNodeReady(Context& ctx, Client& client, const std::string& name);

}  // namespace cox::cmd
