// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/node/nodelifecycle/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Watches over nodes: those not heard of for the grace period become Unknown, conditions become
// taints, and Pods of nodes that are not there any more become not ready. Who is evicted is decided
// by the taints (see tainteviction), how many at once by the health of the zones.
//
// Nothing is scanned: each node has a timer at the moment at which it would be overdue. Renewed
// Leases only move a mark in memory, so a healthy node costs one look in a grace period.
Status AddNodeLifecycleController(Manager& manager, const NodeLifecycleOptions& options);

}  // namespace cox::controllers
