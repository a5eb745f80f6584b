// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coxswain/manager.h"
#include "simulate/options.h"

// Nodes without containers, thousands of them in one process: for tests and for scale.
//
// Each node registers, renews its Lease and tells its status as a kubelet does; Pods that are bound
// to it get an address and run, without a process, as their annotations say (options.h).
//
//   Nodes ──▶ queue ──▶ node_loop: register, status, Lease       node_life.h decides
//   Pods  ──▶ queue ──▶ pod_loop: status, deletion               pod_life.h decides
//
// All state is in the cluster; a simulation that is started anew goes on where the last one was.
namespace cox::simulate {

// How the manager's cache is to keep what is read here: little.
CacheOptions CacheFor();

// Has `manager` run the nodes. BadRequest: options that make no sense.
Status AddNodes(Manager& manager, const Options& options);

}  // namespace cox::simulate
