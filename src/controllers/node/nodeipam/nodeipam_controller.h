// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/node/nodeipam/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Allocates a part of the cluster's CIDR range to each node (spec.podCIDRs), from which a CNI
// plugin assigns addresses to Pods. Does nothing without --allocate-node-cidrs.
Status AddNodeIpamController(Manager& manager, const NodeIpamOptions& options);

}  // namespace cox::controllers
