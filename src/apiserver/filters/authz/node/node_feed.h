// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/authz/node/node_graph.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"

namespace cox::apiserver {

// Follows Pods, volumes, attachments and slices in the server's caches and keeps `graph` as they
// say, until `ctx` stops. Each change costs as much as it touches; a cache that began anew is read
// whole.
void RunNodeFeed(Context& ctx, const Registry& registry, NodeGraph& graph);

}  // namespace cox::apiserver
