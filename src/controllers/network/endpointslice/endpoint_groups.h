// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"

namespace cox::controllers {

// The content of a slice: endpoints of one address family with equal ports.
struct EndpointGroup {
  List<discovery::v1::EndpointPort> ports;
  List<discovery::v1::Endpoint> endpoints;
};
// Address type and PortsKey.
using GroupKey = std::pair<std::string, std::string>;
using EndpointGroups = std::map<GroupKey, EndpointGroup>;

std::string PortsKey(const List<discovery::v1::EndpointPort>& ports);

// Returns the zone of a node, or nullopt if the node does not exist.
using ZoneOf = std::function<std::optional<std::string>(const std::string& node)>;

// Computes the endpoints to publish for a Service's Pods. Pure. Pods on unknown nodes are left out,
// because their zone is not known, unless the Service has publishNotReadyAddresses. The hints are
// those of trafficDistribution; those of topology-mode depend on all endpoints (zone_hints.h).
EndpointGroups GroupEndpoints(const core::v1::Service& service,
                              const std::vector<std::shared_ptr<const core::v1::Pod>>& pods,
                              const ZoneOf& zone_of);

}  // namespace cox::controllers
