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

// A destination of connections.
struct Endpoint {
  Address address;
  uint16_t port = 0;
  bool local = false;  // on this node

  auto operator<=>(const Endpoint&) const = default;
};

// One port of one Service in one IP family: only what the packet filter rules depend on.
struct ServicePort {
  std::string ns;
  std::string service;
  std::string port_name;  // may be empty
  uint8_t protocol = 6;
  Family family = Family::kIpv4;
  Address cluster_ip;
  uint16_t port = 0;
  uint16_t node_port = 0;                  // 0: none
  std::vector<Address> external_ips;       // no source ranges apply
  std::vector<Address> load_balancer_ips;  // source_ranges apply to these
  std::vector<Prefix> source_ranges;       // the allowed sources if `restricted`
  bool restricted = false;                 // loadBalancerSourceRanges is set
  bool external_local = false;             // externalTrafficPolicy: Local
  bool internal_local = false;             // internalTrafficPolicy: Local
  int affinity_seconds = 0;                // 0: none
  // Sorted. local_endpoints are set only if a traffic policy needs them.
  std::vector<Endpoint> cluster_endpoints;
  std::vector<Endpoint> local_endpoints;
  bool any_endpoints = false;  // the cluster has a usable endpoint

  bool external() const {
    return node_port != 0 || !external_ips.empty() || !load_balancer_ips.empty();
  }
  // "default/web/tcp/http"
  std::string Name() const;
  bool operator==(const ServicePort&) const = default;
};

using ServicePtr = std::shared_ptr<const core::v1::Service>;
using SlicePtr = std::shared_ptr<const discovery::v1::EndpointSlice>;

// Whether this proxy handles the Service: it has a cluster IP, and the label
// service.kubernetes.io/service-proxy-name does not assign it to another proxy.
bool IsProxied(const core::v1::Service& service);

// The location of the proxy. An unknown zone is empty.
struct Placement {
  std::string node;
  std::string zone;
};

// All ports of a Service in one family, with the endpoints of `slices` that are usable at `here`:
// the ready ones, or if there are none, those that are terminating but still serving. If all ready
// ones have topology hints, those hinted for this node, else those hinted for its zone, if any.
std::vector<ServicePort> MakeServicePorts(const core::v1::Service& service,
                                          const std::vector<SlicePtr>& slices, Family family,
                                          const Placement& here);

// The number of ready endpoints on this node, over all ports, for healthCheckNodePort.
int CountLocalReady(const std::vector<SlicePtr>& slices, const std::string& node);

}  // namespace cox::proxy
