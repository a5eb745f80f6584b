// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/node/node_graph.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

// Watches Pods, volumes, attachments and slices in the server's caches and updates `graph` until
// `ctx` stops. Updates are incremental; after a cache reset the whole cache is read.
void RunNodeFeed(Context& ctx, const Registry& registry, NodeGraph& graph);

}  // namespace cox::apiserver
