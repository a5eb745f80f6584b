// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/stale_flows.h"

#include <netinet/in.h>

namespace cox::proxy {
namespace {

// Calls `use` for each destination address and port of the Service port.
template <class Use>
void EachPlace(const ServicePort& port, const std::vector<Address>& node_addresses, Use use) {
  use(port.cluster_ip, port.port);
  for (const Address& address : port.external_ips) use(address, port.port);
  for (const Address& address : port.load_balancer_ips) use(address, port.port);
  if (port.node_port == 0) return;
  for (const Address& address : node_addresses) {
    if (address.family == port.family) use(address, port.node_port);
  }
}

}  // namespace

StaleFlows::StaleFlows(const ServicePorts& before, const ServicePorts& now,
                       const std::vector<Address>& node_addresses) {
  for (const auto& [key, ports] : before) {
    for (const ServicePort& port : ports) {
      if (port.protocol != IPPROTO_UDP) continue;
      EachPlace(port, node_addresses, [&](const Address& address, uint16_t number) {
        answers_[{address, number}];
      });
    }
  }
  for (const auto& [key, ports] : now) {
    for (const ServicePort& port : ports) {
      if (port.protocol != IPPROTO_UDP) continue;
      EachPlace(port, node_addresses, [&](const Address& address, uint16_t number) {
        std::set<Place>& answers = answers_[{address, number}];
        for (const auto* endpoints : {&port.cluster_endpoints, &port.local_endpoints}) {
          for (const Endpoint& endpoint : *endpoints) {
            answers.insert({endpoint.address, endpoint.port});
          }
        }
      });
    }
  }
}

bool StaleFlows::Contains(const nft::Flow& flow) const {
  if (flow.protocol != IPPROTO_UDP) return false;
  const auto found = answers_.find({flow.destination, flow.port});
  return found != answers_.end() && !found->second.contains({flow.endpoint, flow.endpoint_port});
}

ServicePorts OnlyUdp(const ServicePorts& services) {
  ServicePorts out;
  for (const auto& [key, ports] : services) {
    for (const ServicePort& port : ports) {
      if (port.protocol == IPPROTO_UDP) out[key].push_back(port);
    }
  }
  return out;
}

}  // namespace cox::proxy
