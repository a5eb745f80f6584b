// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/core/v1.h"

// The fields that each type of Service has, for defaulting, validation and allocation.
namespace cox::apiserver {

inline constexpr std::string_view kClusterIpNone = "None";

// Whether the type has a cluster IP, which may be "None".
inline bool NeedsClusterIp(const core::v1::Service& service) {
  const std::string& type = service.spec.type;
  return type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer";
}

inline bool IsHeadless(const core::v1::Service& service) {
  return service.spec.clusterIPs.size() == 1 && service.spec.clusterIPs[0] == kClusterIpNone;
}

// Whether the Service has a cluster IP other than "None".
inline bool IsClusterIpSet(const core::v1::Service& service) {
  return !service.spec.clusterIPs.empty() && service.spec.clusterIPs[0] != kClusterIpNone;
}

inline bool NeedsNodePort(const core::v1::Service& service) {
  return service.spec.type == "NodePort" || service.spec.type == "LoadBalancer";
}

// Whether ports without a node port get one.
inline bool AllocatesNodePorts(const core::v1::Service& service) {
  return service.spec.type == "NodePort" ||
         (service.spec.type == "LoadBalancer" &&
          service.spec.allocateLoadBalancerNodePorts.value_or(true));
}

inline bool NeedsHealthCheckNodePort(const core::v1::Service& service) {
  return service.spec.type == "LoadBalancer" && service.spec.externalTrafficPolicy == "Local";
}

// Whether the Service can receive traffic from outside of the cluster.
inline bool IsExternallyAccessible(const core::v1::Service& service) {
  return NeedsNodePort(service) ||
         (service.spec.type == "ClusterIP" && !service.spec.externalIPs.empty());
}

}  // namespace cox::apiserver
