// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/endpoint_groups.h"

#include <algorithm>

#include "controllers/network/endpointslice/topology/zone_hints.h"
#include "controllers/network/services/service_endpoint.h"
#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers {
namespace {

using core::v1::Pod;
using core::v1::Service;
using discovery::v1::Endpoint;
using discovery::v1::EndpointPort;

// Returns the zones and nodes whose clients should prefer this endpoint (trafficDistribution). The
// annotation of topology aware routing has precedence.
Box<discovery::v1::EndpointHints> HintsFor(const Service& service, const Endpoint& endpoint) {
  if (HasTopologyModeAuto(service)) return nullptr;
  const std::string wanted = service.spec.trafficDistribution.value_or("");
  const bool same_node = wanted == "PreferSameNode";
  const bool same_zone = same_node || wanted == "PreferSameZone" || wanted == "PreferClose";
  if (!same_zone || !endpoint.conditions.ready.value_or(false)) return nullptr;
  discovery::v1::EndpointHints hints;
  if (endpoint.zone.has_value()) hints.forZones.push_back({.name = *endpoint.zone});
  if (same_node && endpoint.nodeName.has_value()) {
    hints.forNodes.push_back({.name = *endpoint.nodeName});
  }
  if (hints.forZones.empty() && hints.forNodes.empty()) return nullptr;
  return hints;
}

Endpoint EndpointOf(const Service& service, const Pod& pod, std::string address,
                    const std::optional<std::string>& zone) {
  const bool serving = pods::IsReady(pod);
  const bool terminating = pod.metadata.deletionTimestamp.has_value();
  Endpoint endpoint;
  endpoint.addresses = {std::move(address)};
  endpoint.conditions = {
      .ready = service.spec.publishNotReadyAddresses || (serving && !terminating),
      .serving = serving,
      .terminating = terminating,
  };
  endpoint.targetRef = PodReference(pod);
  if (!pod.spec.nodeName.empty()) endpoint.nodeName = pod.spec.nodeName;
  if (zone.has_value() && !zone->empty()) endpoint.zone = zone;
  if (std::string hostname = HostnameOf(pod, service); !hostname.empty()) {
    endpoint.hostname = std::move(hostname);
  }
  endpoint.hints = HintsFor(service, endpoint);
  return endpoint;
}

}  // namespace

std::string PortsKey(const List<EndpointPort>& ports) {
  std::vector<std::string> parts;
  parts.reserve(ports.size());
  for (const EndpointPort& port : ports) {
    std::string part = port.name.value_or("");
    part += '|' + port.protocol.value_or("TCP");
    part += '|' + (port.port.has_value() ? std::to_string(*port.port) : "");
    part += '|' + port.appProtocol.value_or("");
    parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end());
  std::string key;
  for (const std::string& part : parts) key += part + '\n';
  return key;
}

EndpointGroups GroupEndpoints(const Service& service,
                              const std::vector<std::shared_ptr<const Pod>>& pods,
                              const ZoneOf& zone_of) {
  EndpointGroups groups;
  for (const std::shared_ptr<const Pod>& pod : pods) {
    if (!IsPublished(*pod, true)) continue;
    std::optional<std::string> zone;
    if (!pod->spec.nodeName.empty()) {
      zone = zone_of(pod->spec.nodeName);
      if (!zone.has_value() && !service.spec.publishNotReadyAddresses) continue;
    }
    List<EndpointPort> ports = PortsOf<EndpointPort>(service, *pod);
    const std::string ports_key = PortsKey(ports);
    for (const std::string& family : service.spec.ipFamilies) {
      std::string address = AddressOf(*pod, family);
      if (address.empty()) continue;
      EndpointGroup& group = groups[{family, ports_key}];
      group.ports = ports;
      group.endpoints.push_back(EndpointOf(service, *pod, std::move(address), zone));
    }
  }
  return groups;
}

}  // namespace cox::controllers
