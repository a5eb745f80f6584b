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

// What a slice holds: endpoints of one address family that have the same ports.
struct EndpointGroup {
  List<discovery::v1::EndpointPort> ports;
  List<discovery::v1::Endpoint> endpoints;
};
// Address type and a text that equal ports have in common.
using GroupKey = std::pair<std::string, std::string>;
using EndpointGroups = std::map<GroupKey, EndpointGroup>;

std::string PortsKey(const List<discovery::v1::EndpointPort>& ports);

// The zone of a node; none if there is no such node.
using ZoneOf = std::function<std::optional<std::string>(const std::string& node)>;

// What should be published of a Service's Pods, as a pure function. A Pod on a node that is not
// known is left out, for its zone would be wrong; not so where the Service publishes whatever there
// is.
EndpointGroups GroupEndpoints(const core::v1::Service& service,
                              const std::vector<std::shared_ptr<const core::v1::Pod>>& pods,
                              const ZoneOf& zone_of);

}  // namespace cox::controllers
