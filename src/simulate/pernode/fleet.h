// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "net/tls.h"
#include "simulate/options.h"

// Simulated nodes that load the API server like real ones: each has its own identity, connection,
// watches and writes.
//
//   Fleet ── event loop ── Shard: limits and metrics
//                └── SimulatedNode ── NodeConnection: requests, TLS, HTTP/2
//                       ├── LeaseRenewal
//                       ├── NodePods ── ReferenceWatches: ConfigMaps and Secrets
//                       └── ResourceWatch: Node, Services, EndpointSlices
namespace cox::simulate {

struct FleetOptions {
  Options nodes;
  // The CA of the cluster's client certificates. Each node has a certificate for
  // system:node:<name>, group system:nodes, valid for a day.
  net::CertificatePair client_ca;
  int loops = 2;         // event loops; each has one thread
  int pod_writes = 256;  // Pod writes in flight in the process
};

// Allows the group system:nodes what a kube-proxy may read, because the nodes watch EndpointSlices
// with the identity of their kubelet. Idempotent.
Status AllowEndpointSlices(Context& ctx, Client& client);

// Starts nodes, at most some dozen at a time, and runs them until its destruction.
//
// Threads: one per event loop, whatever the number of nodes.
// Ownership: `metrics` outlives it.
class Fleet {
 public:
  // The address and CA of the API server are those of `config`; its credentials are not used.
  // Errors: BadRequest for invalid options, or a server without TLS, which cannot identify nodes.
  static Result<std::unique_ptr<Fleet>> Start(const Context& ctx, const Config& config,
                                              FleetOptions options, MetricsRegistry& metrics);
  virtual ~Fleet() = default;
};

}  // namespace cox::simulate
