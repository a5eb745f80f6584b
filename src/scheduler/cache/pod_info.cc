// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cache/pod_info.h"

#include <utility>

#include "object/core/containers.h"

namespace cox::scheduler {
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

std::vector<HostPort> HostPortsOf(const core::v1::Pod& pod) {
  std::vector<HostPort> ports;
  for (const core::v1::Container& container : pod.spec.containers) AddPorts(container, ports);
  for (const core::v1::Container& container : pod.spec.initContainers) {
    if (core_rules::IsSidecar(container)) AddPorts(container, ports);
  }
  return ports;
}

PodInfoPtr MakePodInfo(std::shared_ptr<const core::v1::Pod> pod) {
  auto info = std::make_shared<PodInfo>();
  info->requests = RequestsOf(*pod);
  const Amounts with_defaults = RequestsWithDefaults(*pod);
  info->score_milli_cpu = with_defaults.milli_cpu;
  info->score_memory = with_defaults.memory;
  info->ports = HostPortsOf(*pod);
  info->priority = pod->spec.priority.value_or(0);
  info->pod = std::move(pod);
  return info;
}

}  // namespace cox::scheduler
