// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "proxy/model/address.h"

namespace cox::proxy {

// Where a connection can go.
struct Endpoint {
  Address address;
  uint16_t port = 0;
  bool local = false;  // on this node

  auto operator<=>(const Endpoint&) const = default;
};

// One port of one Service in one family: what the packet filter is to do, and nothing else of the
// objects it was made of.
struct ServicePort {
  std::string ns;
  std::string service;
  std::string port_name;  // may be empty
  uint8_t protocol = 6;
  Family family = Family::kIpv4;
  Address cluster_ip;
  uint16_t port = 0;
  uint16_t node_port = 0;                  // 0: none
  std::vector<Address> external_ips;       // without a check of the sender
  std::vector<Address> load_balancer_ips;  // source_ranges are for these
  std::vector<Prefix> source_ranges;       // empty: from everywhere
  bool restricted = false;                 // source_ranges count, even if none is left
  bool external_local = false;             // externalTrafficPolicy: Local
  bool internal_local = false;             // internalTrafficPolicy: Local
  int affinity_seconds = 0;                // 0: none
  // Sorted. Of the node's own only where a policy asks for them.
  std::vector<Endpoint> cluster_endpoints;
  std::vector<Endpoint> local_endpoints;
  bool any_endpoints = false;  // somewhere in the cluster one is usable

  bool external() const {
    return node_port != 0 || !external_ips.empty() || !load_balancer_ips.empty();
  }
  // "default/web/tcp/http"
  std::string Name() const;
  bool operator==(const ServicePort&) const = default;
};

using ServicePtr = std::shared_ptr<const core::v1::Service>;
using SlicePtr = std::shared_ptr<const discovery::v1::EndpointSlice>;

// Whether this proxy looks after the Service: it has a cluster IP, and is not given to another by
// the label service.kubernetes.io/service-proxy-name.
bool IsProxied(const core::v1::Service& service);

// Where the proxy runs. An unknown zone is empty.
struct Placement {
  std::string node;
  std::string zone;
};

// All ports of a Service in one family, with the endpoints of `slices` that may be used at `here`:
// those that are ready, and if none is, those that still serve while they terminate. Where each
// ready one has a hint, those meant for this node, else those meant for its zone, if there are any.
std::vector<ServicePort> MakeServicePorts(const core::v1::Service& service,
                                          const std::vector<SlicePtr>& slices, Family family,
                                          const Placement& here);

// How many endpoints of this node are ready, over all ports: what a load balancer asks the health
// check node port for.
int CountLocalReady(const std::vector<SlicePtr>& slices, const std::string& node);

}  // namespace cox::proxy
