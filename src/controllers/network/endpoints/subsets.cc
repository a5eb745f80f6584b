// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpoints/subsets.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "controllers/network/services/service_endpoint.h"
#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers {
namespace {

using core::v1::EndpointAddress;
using core::v1::EndpointPort;
using core::v1::EndpointSubset;
using core::v1::Pod;
using core::v1::Service;

auto OrderOf(const EndpointPort& port) {
  return std::make_tuple(port.name, port.protocol, port.port, port.appProtocol.value_or(""));
}
using PortsKey = std::vector<decltype(OrderOf(EndpointPort()))>;

bool AddressLess(const EndpointAddress& a, const EndpointAddress& b) {
  const std::string& a_uid = a.targetRef->uid;
  const std::string& b_uid = b.targetRef->uid;
  return std::tie(a.ip, a.hostname, a_uid) < std::tie(b.ip, b.hostname, b_uid);
}

EndpointAddress AddressFor(const Service& service, const Pod& pod) {
  EndpointAddress address;
  address.ip =
      AddressOf(pod, service.spec.ipFamilies.empty() ? "IPv4" : service.spec.ipFamilies.front());
  address.hostname = HostnameOf(pod, service);
  if (!pod.spec.nodeName.empty()) address.nodeName = pod.spec.nodeName;
  address.targetRef = PodReference(pod);
  return address;
}

}  // namespace

List<EndpointSubset> SubsetsOf(const Service& service,
                               const std::vector<std::shared_ptr<const Pod>>& pods) {
  std::map<PortsKey, EndpointSubset> by_ports;
  for (const std::shared_ptr<const Pod>& pod : pods) {
    if (!IsPublished(*pod, service.spec.publishNotReadyAddresses)) continue;
    EndpointAddress address = AddressFor(service, *pod);
    if (address.ip.empty()) continue;
    List<EndpointPort> ports = PortsOf<EndpointPort>(service, *pod);
    std::sort(ports.begin(), ports.end(),
              [](const EndpointPort& a, const EndpointPort& b) { return OrderOf(a) < OrderOf(b); });
    // Only a headless Service may publish addresses without ports.
    if (ports.empty() && !(service.spec.ports.empty() && IsHeadless(service))) continue;
    PortsKey key;
    for (const EndpointPort& port : ports) key.push_back(OrderOf(port));
    EndpointSubset& subset = by_ports[key];
    subset.ports = std::move(ports);
    const bool ready = service.spec.publishNotReadyAddresses || pods::IsReady(*pod);
    (ready ? subset.addresses : subset.notReadyAddresses).push_back(std::move(address));
  }
  List<EndpointSubset> subsets;
  for (auto& [key, subset] : by_ports) {
    std::sort(subset.addresses.begin(), subset.addresses.end(), AddressLess);
    std::sort(subset.notReadyAddresses.begin(), subset.notReadyAddresses.end(), AddressLess);
    subsets.push_back(std::move(subset));
  }
  return subsets;
}

bool Truncate(List<EndpointSubset>& subsets, size_t limit) {
  bool truncated = false;
  const auto cut = [&](List<EndpointAddress>& addresses) {
    if (addresses.size() > limit) {
      addresses.resize(limit);
      truncated = true;
    }
    limit -= addresses.size();
  };
  for (EndpointSubset& subset : subsets) cut(subset.addresses);
  for (EndpointSubset& subset : subsets) cut(subset.notReadyAddresses);
  erase_if(subsets, [](const EndpointSubset& subset) {
    return subset.addresses.empty() && subset.notReadyAddresses.empty();
  });
  return truncated;
}

}  // namespace cox::controllers
