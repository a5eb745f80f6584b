// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"

// What a Pod is to the Services that select it. Pure functions.
namespace cox::controllers {

inline constexpr std::string_view kTriggerTimeAnnotation =
    "endpoints.kubernetes.io/last-change-trigger-time";
inline constexpr std::string_view kHeadlessLabel = "service.kubernetes.io/headless";

// When it became (or ceased to be) ready; zero if it never said.
Time ReadinessSince(const core::v1::Pod& pod);

// No cluster address: clients get the addresses of the Pods themselves.
bool IsHeadless(const core::v1::Service& service);
// Has Pods that are looked after here: it has a selector and is no alias.
bool HasEndpoints(const core::v1::Service& service);

// Pods that have ended or have no address yet are not published; those that are being deleted only
// where that is wanted.
bool IsPublished(const core::v1::Pod& pod, bool include_terminating);

// The Pod's first address of that family ("IPv4", "IPv6"); empty if it has none.
std::string AddressOf(const core::v1::Pod& pod, std::string_view family);

// The name under which DNS finds this Pod within the Service; empty for most.
std::string HostnameOf(const core::v1::Pod& pod, const core::v1::Service& service);

// The number of a Service's port at this Pod. Named ports are looked up among the Pod's containers
// and sidecars; none if it has no such name.
std::optional<int32_t> TargetPort(const core::v1::Pod& pod, const core::v1::ServicePort& port);

// The Service's ports at this Pod, but for those it does not have, as an EndpointPort of Endpoints
// or of an EndpointSlice.
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

// Points to the Pod: what endpoints say they stand for.
core::v1::ObjectReference PodReference(const core::v1::Pod& pod);

}  // namespace cox::controllers
