// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace cox {
class Client;
}

namespace cox::controllers {

struct NodeLifecycleOptions {
  // --node-monitor-grace-period, --node-startup-grace-period
  std::chrono::milliseconds monitor_grace_period{50'000};
  std::chrono::milliseconds startup_grace_period{60'000};
  // --node-eviction-rate, --secondary-node-eviction-rate: nodes per second
  double eviction_rate = 0.1;
  double secondary_eviction_rate = 0.01;
  // --unhealthy-zone-threshold: the share of a zone's nodes that are not ready
  double unhealthy_zone_threshold = 0.55;
  // --large-cluster-size-threshold: in smaller clusters the secondary rate is 0.
  int large_cluster_size_threshold = 50;
  // Reads Leases and makes the test writes that show whether the API server is overloaded; null:
  // the controller's client. The accounts of upstream's roles may not list Leases, but the user
  // that reads for all controllers may.
  Client* reader = nullptr;
};

}  // namespace cox::controllers
