// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/topology/zone_hints.h"

#include <algorithm>

namespace cox::controllers {
namespace {

using discovery::v1::Endpoint;
using Counts = std::map<std::string, int64_t>;

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

std::string WithCounts(std::string_view text, size_t endpoints, size_t zones) {
  return std::string(text) + " (" + std::to_string(endpoints) + " endpoints, " +
         std::to_string(zones) + " zones)";
}

bool IsReady(const Endpoint& endpoint) { return endpoint.conditions.ready.value_or(true); }

// Returns the number of endpoints for each zone. They sum up to the number of endpoints, lie
// between the floor and the ceiling of the share where the minimum permits, and are as close to
// `own`, the numbers of endpoints that are in the zones, as possible.
Counts Targets(const std::map<std::string, ZoneShare>& shares, const Counts& own,
               int64_t endpoints) {
  Counts targets;
  int64_t missing = endpoints;
  for (const auto& [zone, share] : shares) {
    const auto found = own.find(zone);
    const int64_t low = std::max(share.minimum, share.floor);
    const int64_t high = std::max(share.minimum, share.ceiling);
    targets[zone] = std::clamp(found == own.end() ? 0 : found->second, low, high);
    missing -= targets[zone];
  }
  const auto adjust = [&](int64_t by, const std::function<bool(const ZoneShare&, int64_t)>& may) {
    for (auto& [zone, target] : targets) {
      if (missing * by <= 0) return;
      if (!may(shares.at(zone), target)) continue;
      target += by;
      missing -= by;
    }
  };
  adjust(1, [](const ZoneShare& share, int64_t target) { return target < share.ceiling; });
  adjust(-1, [](const ZoneShare& share, int64_t target) {
    return target > std::max(share.minimum, share.floor);
  });
  // Zones whose minimum exceeds their share take endpoints from the zones with the most.
  while (missing < 0) {
    const auto most =
        std::max_element(targets.begin(), targets.end(), [&](const auto& a, const auto& b) {
          return a.second - shares.at(a.first).minimum < b.second - shares.at(b.first).minimum;
        });
    --most->second;
    ++missing;
  }
  return targets;
}

void SetZoneHint(const std::string& zone, Endpoint& endpoint) {
  discovery::v1::EndpointHints hints;
  hints.forZones.push_back({.name = zone});
  endpoint.hints = std::move(hints);
}

// Moves endpoints from zones that have too many to zones that have too few. `spare` contains the
// surplus of each zone, negative for zones that need endpoints.
void Redistribute(const std::vector<Endpoint*>& ready, const PreviousZone& previous,
                  Counts& spare) {
  const auto move = [&spare](Endpoint& endpoint, const std::string& zone) {
    --spare[*endpoint.zone];
    ++spare[zone];
    SetZoneHint(zone, endpoint);
  };
  const auto can_move = [&spare](const Endpoint& endpoint) {
    return spare[*endpoint.zone] > 0 && endpoint.hints->forZones[0].name == *endpoint.zone;
  };
  for (Endpoint* endpoint : ready) {
    if (!can_move(*endpoint)) continue;
    const std::string zone = previous(*endpoint);
    const auto found = spare.find(zone);
    if (found != spare.end() && found->second < 0) move(*endpoint, zone);
  }
  for (Endpoint* endpoint : ready) {
    if (!can_move(*endpoint)) continue;
    const auto neediest =
        std::min_element(spare.begin(), spare.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (neediest->second >= 0) return;
    move(*endpoint, std::string(neediest->first));
  }
}

}  // namespace

bool HasTopologyModeAuto(const core::v1::Service& service) {
  const auto& annotations = service.metadata.annotations;
  const std::string* mode = annotations.Get("service.kubernetes.io/topology-aware-hints");
  if (mode == nullptr) mode = annotations.Get("service.kubernetes.io/topology-mode");
  return mode != nullptr && (*mode == "Auto" || *mode == "auto");
}

HintsProblem DivideAmongZones(const ZoneCpus& cpus, size_t endpoints,
                              std::map<std::string, ZoneShare>& shares) {
  shares.clear();
  const size_t zones = cpus.millis.size();
  if (cpus.incomplete_nodes > 0 || zones == 0) {
    return "Insufficient Node information: allocatable CPU or zone not specified on one or more "
           "nodes";
  }
  if (zones < 2) return "Nodes only ready in one zone";
  if (endpoints < zones) return WithCounts("Insufficient number of endpoints", endpoints, zones);
  const auto count = static_cast<int64_t>(endpoints);
  int64_t minimum = 0;
  for (const auto& [zone, millis] : cpus.millis) {
    // The share is count * millis / total. The minimum is the share / 1.2, rounded up.
    const ZoneShare share{.minimum = DivideUp(count * millis * 5, cpus.total * 6),
                          .floor = count * millis / cpus.total,
                          .ceiling = DivideUp(count * millis, cpus.total)};
    minimum += share.minimum;
    shares[zone] = share;
  }
  if (minimum <= count) return {};
  return WithCounts(
      "Unable to allocate minimum required endpoints to each zone without exceeding overload "
      "threshold",
      endpoints, zones);
}

ZoneHints AssignZoneHints(const ZoneCpus& cpus, const std::vector<Endpoint*>& endpoints,
                          const PreviousZone& previous) {
  std::vector<Endpoint*> ready;
  bool is_zone_missing = false;
  for (Endpoint* endpoint : endpoints) {
    endpoint->hints = nullptr;
    if (!IsReady(*endpoint)) continue;
    ready.push_back(endpoint);
    is_zone_missing = is_zone_missing || endpoint->zone.value_or("").empty();
  }
  ZoneHints hints;
  hints.endpoints = ready.size();
  std::map<std::string, ZoneShare> shares;
  hints.problem = DivideAmongZones(cpus, ready.size(), shares);
  if (hints.problem.empty() && is_zone_missing) {
    hints.is_zone_missing = true;
    hints.problem = "One or more endpoints do not have a zone specified";
  }
  if (!hints.problem.empty()) return hints;
  Counts own;
  for (Endpoint* endpoint : ready) {
    ++own[*endpoint->zone];
    SetZoneHint(*endpoint->zone, *endpoint);
  }
  hints.by_zone = Targets(shares, own, static_cast<int64_t>(ready.size()));
  Counts spare = own;
  for (const auto& [zone, target] : hints.by_zone) spare[zone] -= target;
  Redistribute(ready, previous, spare);
  return hints;
}

bool AreOutdated(const ZoneHints& hints, const ZoneCpus& cpus) {
  if (hints.is_zone_missing) return false;  // a change of the endpoints requeues the Service
  std::map<std::string, ZoneShare> shares;
  const HintsProblem problem = DivideAmongZones(cpus, hints.endpoints, shares);
  if (!hints.has_hints()) return problem != hints.problem;
  if (!problem.empty()) return true;
  return hints.by_zone.size() != shares.size() ||
         std::any_of(shares.begin(), shares.end(), [&hints](const auto& share) {
           const auto found = hints.by_zone.find(share.first);
           return found == hints.by_zone.end() || found->second < share.second.minimum;
         });
}

}  // namespace cox::controllers
