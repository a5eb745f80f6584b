// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/zones.h"

#include <algorithm>

namespace cox::controllers {
namespace {

std::string LabelOf(const core::v1::Node& node, std::string_view key, std::string_view old_key) {
  const std::string* value = node.metadata.labels.Get(key);
  if (value == nullptr) value = node.metadata.labels.Get(old_key);
  return value == nullptr ? "" : *value;
}

}  // namespace

ZoneState StateOf(size_t ready, size_t not_ready, const NodeLifecycleOptions& options) {
  if (ready == 0 && not_ready > 0) return ZoneState::kFullDisruption;
  // Up to two failed nodes are not a disruption, independent of the ratio.
  const auto all = static_cast<double>(ready + not_ready);
  if (not_ready > 2 && static_cast<double>(not_ready) / all >= options.unhealthy_zone_threshold) {
    return ZoneState::kPartialDisruption;
  }
  return ZoneState::kNormal;
}

double EvictionRate(ZoneState state, size_t nodes, bool all_down,
                    const NodeLifecycleOptions& options) {
  if (all_down) return 0;
  if (state != ZoneState::kPartialDisruption) return options.eviction_rate;
  const bool large = nodes > static_cast<size_t>(options.large_cluster_size_threshold);
  return large ? options.secondary_eviction_rate : 0;
}

std::string ZoneKeyOf(const core::v1::Node& node) {
  // Cannot occur in a label value.
  constexpr std::string_view kSeparator(":\0:", 3);
  const std::string region =
      LabelOf(node, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
  const std::string zone =
      LabelOf(node, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
  if (region.empty() && zone.empty()) return {};
  return region + std::string(kSeparator) + zone;
}

void Zones::Count(const Member& member, int by) {
  Zone& zone = zones_[member.zone];
  (member.ready ? zone.ready : zone.not_ready) += static_cast<size_t>(by);
  if (zone.ready + zone.not_ready == 0) zones_.erase(member.zone);
}

Zones::Change Zones::Evaluate() {
  Change change;
  bool all_down = !zones_.empty();
  for (auto& [key, zone] : zones_) {
    const ZoneState state = StateOf(zone.ready, zone.not_ready, options_);
    change.state = change.state || state != zone.state;
    zone.state = state;
    all_down = all_down && state == ZoneState::kFullDisruption;
  }
  change.state = change.state || all_down != all_down_;
  change.came_back = all_down_ && !all_down;
  all_down_ = all_down;
  return change;
}

Zones::Change Zones::Note(const std::string& node, const std::string& zone, bool ready) {
  MutexLock lock(mu_);
  const auto [entry, added] = nodes_.try_emplace(node);
  Member& member = entry->second;
  if (!added && member.zone == zone && member.ready == ready) return {};
  if (!added) Count(member, -1);
  member = {zone, ready};
  Count(member, 1);
  return Evaluate();
}

Zones::Change Zones::Forget(const std::string& node) {
  MutexLock lock(mu_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  Count(found->second, -1);
  nodes_.erase(found);
  return Evaluate();
}

bool Zones::AllDown() const {
  MutexLock lock(mu_);
  return all_down_;
}

std::optional<Clock::Duration> Zones::TakeTurn(const std::string& key) {
  const Clock::SteadyTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  Zone& zone = zones_[key];
  const double rate = EvictionRate(zone.state, zone.ready + zone.not_ready, all_down_, options_);
  if (rate <= 0) return std::nullopt;
  const auto between =
      std::chrono::duration_cast<Clock::Duration>(std::chrono::duration<double>(1 / rate));
  if (zone.last_turn.has_value() && *zone.last_turn + between > now) {
    return *zone.last_turn + between - now;
  }
  zone.last_turn = now;
  return Clock::Duration();
}

std::vector<std::string> Zones::NotReady() const {
  std::vector<std::string> names;
  MutexLock lock(mu_);
  for (const auto& [name, member] : nodes_) {
    if (!member.ready) names.push_back(name);
  }
  return names;
}

}  // namespace cox::controllers
