// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "controllers/network/endpointslice/topology/zone_capacity.h"

// Topology aware routing (service.kubernetes.io/topology-mode: Auto): each zone gets a share of the
// endpoints in proportion to the CPU of its nodes, so that clients can stay in their zone without
// overloading its endpoints. Pure functions.
namespace cox::controllers {

// Whether the Service has the annotation topology-mode, or the older topology-aware-hints, with the
// value Auto.
bool HasTopologyModeAuto(const core::v1::Service& service);

// The number of endpoints of one zone: at least `minimum`, so that no endpoint of the zone gets
// more than 120 % of its share of the traffic; `floor` and `ceiling` enclose the exact share.
struct ZoneShare {
  int64_t minimum = 0;
  int64_t floor = 0;
  int64_t ceiling = 0;
};

// Why there are no hints: the message of upstream's event, or "" if there are hints.
using HintsProblem = std::string;

// Divides `endpoints` among the zones. `shares` is valid if the returned problem is empty.
HintsProblem DivideAmongZones(const ZoneCpus& cpus, size_t endpoints,
                              std::map<std::string, ZoneShare>& shares);

// The hints of one address family of a Service.
struct ZoneHints {
  HintsProblem problem;
  bool is_zone_missing = false;            // the problem is an endpoint, not the nodes
  size_t endpoints = 0;                    // ready ones
  std::map<std::string, int64_t> by_zone;  // the number of endpoints for each zone

  bool has_hints() const { return problem.empty(); }
  bool operator==(const ZoneHints&) const = default;
};

// Returns the zone that an endpoint was assigned to before, or "".
using PreviousZone = std::function<std::string(const discovery::v1::Endpoint&)>;

// Replaces the hints of `endpoints`, which are all endpoints of one address family. Endpoints are
// assigned to their own zone, except for those that other zones need for their share. These are
// preferably the same as before, because each changed slice is sent to every node. Endpoints that
// are not ready get no hints.
ZoneHints AssignZoneHints(const ZoneCpus& cpus,
                          const std::vector<discovery::v1::Endpoint*>& endpoints,
                          const PreviousZone& previous);

// Whether the hints must be computed again because the CPU of the zones changed: a zone lacks
// endpoints or no longer exists, or hints have become possible.
bool AreOutdated(const ZoneHints& hints, const ZoneCpus& cpus);

}  // namespace cox::controllers
