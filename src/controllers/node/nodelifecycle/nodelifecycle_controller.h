// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/node/nodelifecycle/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Monitors node health: sets the conditions of nodes without heartbeats for the grace period to
// Unknown, converts conditions to taints, and marks Pods on unreachable nodes as not ready. The
// taints determine which Pods are evicted (see tainteviction); the health of the zones limits the
// rate.
//
// Nodes are not marked while missing heartbeats may be the fault of an overloaded control plane,
// see overload.h.
//
// There are no periodic scans: each node has a timer for the end of its grace period. A renewed
// Lease only updates a timestamp in memory, so a healthy node is reconciled about once per grace
// period.
Status AddNodeLifecycleController(Manager& manager, const NodeLifecycleOptions& options);

}  // namespace cox::controllers
