// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace cox::controllers {

// What controllers can be told: kube-controller-manager's flags, with its defaults.
struct Options {
  // --controllers: "*" is all that are on by default, "name" turns one on, "-name" off.
  std::vector<std::string> controllers = {"*"};

  // --root-ca-file, as PEM: what Pods trust. Empty: nothing is published.
  std::string root_ca_pem;

  // --concurrent-...-syncs
  int concurrent_deployment_syncs = 5;
  int concurrent_replicaset_syncs = 5;
  int concurrent_job_syncs = 5;
  int concurrent_endpoint_syncs = 5;
  int concurrent_service_endpoint_syncs = 5;
  int concurrent_namespace_syncs = 10;
  int concurrent_gc_syncs = 20;
  int concurrent_serviceaccount_syncs = 5;

  // --terminated-pod-gc-threshold; 0: none are deleted for their number.
  int terminated_pod_gc_threshold = 12'500;
  // --node-monitor-period, --node-monitor-grace-period, --node-startup-grace-period
  std::chrono::milliseconds node_monitor_period{5'000};
  std::chrono::milliseconds node_monitor_grace_period{50'000};
  std::chrono::milliseconds node_startup_grace_period{60'000};
  // --node-eviction-rate, --secondary-node-eviction-rate: nodes a second;
  // --unhealthy-zone-threshold, --large-cluster-size-threshold
  double node_eviction_rate = 0.1;
  double secondary_node_eviction_rate = 0.01;
  double unhealthy_zone_threshold = 0.55;
  int large_cluster_size_threshold = 50;

  // --allocate-node-cidrs, --cluster-cidr (one, or one of each family), --service-cluster-ip-range
  // (which no node gets), --node-cidr-mask-size and its forms per family; 0: 24, and 64 for IPv6.
  bool allocate_node_cidrs = false;
  std::vector<std::string> cluster_cidrs;
  std::vector<std::string> service_cidrs;
  int node_cidr_mask_size_ipv4 = 0;
  int node_cidr_mask_size_ipv6 = 0;
};

}  // namespace cox::controllers
