// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/topology/zone_capacity.h"

#include "coxswain/conditions.h"

namespace cox::controllers {
namespace {

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

bool IsCounted(const core::v1::Node& node) {
  if (node.metadata.labels.contains("node-role.kubernetes.io/control-plane") ||
      node.metadata.labels.contains("node-role.kubernetes.io/master")) {
    return false;
  }
  const auto* ready = FindCondition(node.status.conditions, "Ready");
  return ready != nullptr && ready->status == core::v1::kConditionTrue;
}

}  // namespace

std::string ZoneLabelOf(const core::v1::Node& node) {
  const std::string* zone = node.metadata.labels.Get(kZoneLabel);
  return zone == nullptr ? "" : *zone;
}

bool ZoneCapacity::Set(const core::v1::Node& node) {
  if (!IsCounted(node)) return Remove(node.metadata.name);
  const Quantity* cpu = node.status.allocatable.Get("cpu");
  const Node now{.zone = ZoneLabelOf(node), .millis = cpu == nullptr ? 0 : cpu->MilliValue()};
  const auto [found, is_new] = nodes_.try_emplace(node.metadata.name, now);
  if (!is_new) {
    if (found->second == now) return false;
    Subtract(found->second);
    found->second = now;
  }
  Add(now);
  return true;
}

bool ZoneCapacity::Remove(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return false;
  Subtract(found->second);
  nodes_.erase(found);
  return true;
}

void ZoneCapacity::Add(const Node& node) {
  if (node.zone.empty() || node.millis <= 0) {
    ++cpus_.incomplete_nodes;
    return;
  }
  cpus_.millis[node.zone] += node.millis;
  cpus_.total += node.millis;
}

void ZoneCapacity::Subtract(const Node& node) {
  if (node.zone.empty() || node.millis <= 0) {
    --cpus_.incomplete_nodes;
    return;
  }
  const auto zone = cpus_.millis.find(node.zone);
  zone->second -= node.millis;
  if (zone->second == 0) cpus_.millis.erase(zone);
  cpus_.total -= node.millis;
}

}  // namespace cox::controllers
