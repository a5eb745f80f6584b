// SPDX-License-Identifier: Apache-2.0
#include "object/core/host_ports.h"

#include <algorithm>
#include <string_view>

#include "object/core/containers.h"

namespace cox::core_rules {
namespace {

constexpr std::string_view kAllAddresses = "0.0.0.0";

void AddPorts(const core::v1::Container& container, std::vector<HostPort>& out) {
  for (const core::v1::ContainerPort& port : container.ports) {
    if (port.hostPort <= 0) continue;
    out.push_back({.ip = port.hostIP.empty() ? std::string(kAllAddresses) : port.hostIP,
                   .protocol = port.protocol.empty() ? "TCP" : port.protocol,
                   .port = port.hostPort});
  }
}

}  // namespace

bool Conflict(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return a.ip == b.ip || a.ip == kAllAddresses || b.ip == kAllAddresses;
}

bool AnyConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& taken) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& port) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const HostPort& other) { return Conflict(port, other); });
  });
}

std::vector<HostPort> HostPortsOf(const core::v1::Pod& pod) {
  std::vector<HostPort> ports;
  for (const core::v1::Container& container : pod.spec.containers) AddPorts(container, ports);
  for (const core::v1::Container& container : pod.spec.initContainers) {
    if (IsSidecar(container)) AddPorts(container, ports);
  }
  return ports;
}

}  // namespace cox::core_rules
