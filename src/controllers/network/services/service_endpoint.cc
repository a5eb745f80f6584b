// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/services/service_endpoint.h"

#include <algorithm>

#include "coxswain/conditions.h"
#include "object/core/containers.h"
#include "object/core/pod_state.h"

namespace cox::controllers {

using core::v1::Container;
using core::v1::Pod;
using core::v1::Service;

namespace {

std::string_view FamilyOf(std::string_view ip) {
  return ip.find(':') != std::string_view::npos ? core::v1::kIPv6Protocol : core::v1::kIPv4Protocol;
}

std::optional<int32_t> NamedPort(const Container& container, const core::v1::ServicePort& wanted) {
  for (const core::v1::ContainerPort& port : container.ports) {
    if (port.name == wanted.targetPort.string_value() && port.protocol == wanted.protocol) {
      return port.containerPort;
    }
  }
  return std::nullopt;
}

}  // namespace

Time ReadinessSince(const Pod& pod) {
  const auto* ready = FindCondition(pod.status.conditions, core::v1::kPodReady);
  return ready == nullptr ? Time() : ready->lastTransitionTime;
}

int64_t VersionOf(const Service& service) {
  return static_cast<int64_t>(std::hash<std::string>()(service.metadata.resourceVersion));
}

bool IsHeadless(const Service& service) { return service.spec.clusterIP == "None"; }

bool HasEndpoints(const Service& service) {
  return !service.spec.selector.empty() && service.spec.type != core::v1::kServiceTypeExternalName;
}

bool IsPublished(const Pod& pod, bool include_terminating) {
  if (core_rules::IsTerminal(pod)) return false;
  if (pod.status.podIP.empty() && pod.status.podIPs.empty()) return false;
  return include_terminating || !pod.metadata.deletionTimestamp.has_value();
}

std::string AddressOf(const Pod& pod, std::string_view family) {
  for (const core::v1::PodIP& address : pod.status.podIPs) {
    if (FamilyOf(address.ip) == family) return address.ip;
  }
  return FamilyOf(pod.status.podIP) == family ? pod.status.podIP : "";
}

std::string HostnameOf(const Pod& pod, const Service& service) {
  const bool named = !pod.spec.hostname.empty() && pod.spec.subdomain == service.metadata.name &&
                     pod.metadata.namespace_ == service.metadata.namespace_;
  return named ? pod.spec.hostname : "";
}

std::optional<int32_t> TargetPort(const Pod& pod, const core::v1::ServicePort& port) {
  if (!port.targetPort.is_string()) return port.targetPort.int_value();
  for (const Container& container : pod.spec.containers) {
    if (const auto number = NamedPort(container, port)) return number;
  }
  for (const Container& container : pod.spec.initContainers) {
    if (!core_rules::IsSidecar(container)) continue;
    if (const auto number = NamedPort(container, port)) return number;
  }
  return std::nullopt;
}

core::v1::ObjectReference PodReference(const Pod& pod) {
  return {.kind = "Pod",
          .namespace_ = pod.metadata.namespace_,
          .name = pod.metadata.name,
          .uid = pod.metadata.uid};
}

}  // namespace cox::controllers
