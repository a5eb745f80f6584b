// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/node/nodeipam/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Gives each node its part of the cluster's range (spec.podCIDRs), from which a CNI plugin takes
// the addresses of its Pods. Does nothing without --allocate-node-cidrs.
Status AddNodeIpamController(Manager& manager, const NodeIpamOptions& options);

}  // namespace cox::controllers
