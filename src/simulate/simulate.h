// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coxswain/manager.h"
#include "simulate/options.h"

// Simulated nodes without containers, thousands in one process, for tests and scale tests.
//
// Each node registers, renews its Lease and reports its status like a kubelet. Pods that are bound
// to it get an address and run without processes, controlled by annotations (options.h).
//
//   Nodes ──▶ queue ──▶ node_loop: register, status, Lease       node_life.h decides
//   Pods  ──▶ queue ──▶ pod_loop: status, deletion               pod_life.h decides
//
// All state is in the cluster; a restarted simulation continues where the previous one stopped.
// In this mode all nodes share one client and its caches. pernode/fleet.h gives each node its own
// connection and watches.
namespace cox::simulate {

// Returns BadRequest for invalid options.
Status CheckOptions(const Options& options);

// The cache options for the manager: only the fields that are read here.
CacheOptions CacheFor();

// Adds the nodes to `manager`. Returns BadRequest for invalid options.
Status AddNodes(Manager& manager, const Options& options);

}  // namespace cox::simulate
