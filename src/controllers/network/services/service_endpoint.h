// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"

// Maps Pods to endpoints of the Services that select them. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kTriggerTimeAnnotation =
    "endpoints.kubernetes.io/last-change-trigger-time";
inline constexpr std::string_view kHeadlessLabel = "service.kubernetes.io/headless";

// The last transition of the Ready condition; zero if the Pod has no such condition.
Time ReadinessSince(const core::v1::Pod& pod);

// A number that differs between versions of a Service, for pods::Pacer. Its generation does not
// count changes of all fields that determine its endpoints, for example labels.
int64_t VersionOf(const core::v1::Service& service);

// The Service has no cluster IP: clients get the addresses of the Pods.
bool IsHeadless(const core::v1::Service& service);
// The Service has a selector and is not of type ExternalName.
bool HasEndpoints(const core::v1::Service& service);

// Terminal Pods and Pods without an address are not published; Pods that are being deleted only
// with `include_terminating`.
bool IsPublished(const core::v1::Pod& pod, bool include_terminating);

// The Pod's first address of that family ("IPv4", "IPv6"); empty if it has none.
std::string AddressOf(const core::v1::Pod& pod, std::string_view family);

// The Pod's hostname in the Service's DNS domain; empty if the Pod's subdomain is not this Service.
std::string HostnameOf(const core::v1::Pod& pod, const core::v1::Service& service);

// Resolves a Service port to the port number of this Pod. Named ports are searched in the Pod's
// containers and sidecars; nullopt if there is no port with that name and protocol.
std::optional<int32_t> TargetPort(const core::v1::Pod& pod, const core::v1::ServicePort& port);

// Resolves the Service's ports for this Pod, as EndpointPort of Endpoints or EndpointSlice. Ports
// that the Pod does not have are left out.
template <class EndpointPort>
List<EndpointPort> PortsOf(const core::v1::Service& service, const core::v1::Pod& pod) {
  List<EndpointPort> ports;
  for (const core::v1::ServicePort& port : service.spec.ports) {
    const std::optional<int32_t> number = TargetPort(pod, port);
    if (!number.has_value()) continue;
    EndpointPort& at = ports.emplace_back();
    at.name = port.name;
    at.protocol = port.protocol;
    at.port = *number;
    at.appProtocol = port.appProtocol;
  }
  return ports;
}

// The targetRef of the Pod's endpoint.
core::v1::ObjectReference PodReference(const core::v1::Pod& pod);

}  // namespace cox::controllers
