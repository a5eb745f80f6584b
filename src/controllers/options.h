// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "controllers/identity/rootca/options.h"
#include "controllers/identity/serviceaccount/options.h"
#include "controllers/lifecycle/garbagecollector/options.h"
#include "controllers/lifecycle/namespace/options.h"
#include "controllers/lifecycle/podgc/options.h"
#include "controllers/network/endpoints/options.h"
#include "controllers/network/endpointslice/options.h"
#include "controllers/node/nodeipam/options.h"
#include "controllers/node/nodelifecycle/options.h"
#include "controllers/workload/deployment/options.h"
#include "controllers/workload/job/options.h"
#include "controllers/workload/replicaset/options.h"

namespace cox::controllers {

// The flags of kube-controller-manager, with its defaults. The options of a controller are in its
// folder.
struct Options {
  // --controllers: "*" enables all controllers that are on by default, "name" enables one, "-name"
  // disables one.
  std::vector<std::string> controllers = {"*"};

  DeploymentOptions deployment;
  EndpointSliceOptions endpoint_slice;
  EndpointsOptions endpoints;
  GarbageCollectorOptions garbage_collector;
  JobOptions job;
  NamespaceOptions namespaces;
  NodeIpamOptions node_ipam;
  NodeLifecycleOptions node_lifecycle;
  PodGcOptions pod_gc;
  ReplicaSetOptions replica_set;
  RootCaOptions root_ca;
  ServiceAccountOptions service_account;
};

}  // namespace cox::controllers
