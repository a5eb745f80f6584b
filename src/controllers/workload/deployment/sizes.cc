// SPDX-License-Identifier: Apache-2.0
#include "controllers/workload/deployment/sizes.h"

#include <algorithm>
#include <cmath>

#include "object/scalar/int_or_string.h"

namespace cox::controllers::deployment {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;

int32_t Share(const std::optional<IntOrString>& value, int32_t total, bool round_up) {
  if (!value) return 0;
  // Validation rejects invalid values; those that bypassed it count as 0.
  return static_cast<int32_t>(
      GetScaledValueFromIntOrPercent(*value, total, round_up).value_or(int64_t{0}));
}

int32_t TotalSize(const std::vector<SetPtr>& sets) {
  int32_t total = 0;
  for (const SetPtr& set : sets) total += SizeOf(*set);
  return total;
}

// Returns the only set with replicas, or the newest set if none has replicas. It gets all of the
// deployment's replicas. Null if several sets have replicas or there are no sets.
SetPtr OnlyActive(const ReplicaSets& sets) {
  std::vector<SetPtr> active = sets.ActiveOld();
  if (sets.latest != nullptr && SizeOf(*sets.latest) > 0) active.push_back(sets.latest);
  if (active.size() == 1) return active[0];
  if (!active.empty()) return nullptr;
  if (sets.latest != nullptr) return sets.latest;
  return sets.old.empty() ? nullptr : sets.old.back();
}

bool IsSaturated(const Deployment& deployment, const SetPtr& latest) {
  const int32_t wanted = SizeOf(deployment);
  return latest != nullptr && IntAnnotation(latest->metadata, kDesiredReplicas) == wanted &&
         SizeOf(*latest) == wanted && latest->status.availableReplicas == wanted;
}

// The set's size change under proportional scaling.
int32_t FairGrowth(const Deployment& deployment, const ReplicaSet& set) {
  if (SizeOf(deployment) == 0) return -SizeOf(set);
  const int32_t max = SizeOf(deployment) + BoundsOf(deployment).surge;
  int32_t former_max = IntAnnotation(set.metadata, kMaxReplicas).value_or(0);
  if (former_max == 0) former_max = deployment.status.replicas;
  if (former_max == 0) return 0;
  const double size = static_cast<double>(SizeOf(set)) * max / former_max;
  return static_cast<int32_t>(std::lround(size)) - SizeOf(set);
}

// Returns the active sets with their sizes after proportional scaling.
std::vector<Resize> Proportional(const Deployment& deployment, const ReplicaSets& sets) {
  std::vector<SetPtr> active = sets.ActiveOld();
  if (sets.latest != nullptr && SizeOf(*sets.latest) > 0) active.push_back(sets.latest);
  const int32_t allowed =
      SizeOf(deployment) > 0 ? SizeOf(deployment) + BoundsOf(deployment).surge : 0;
  const int32_t to_add = allowed - TotalSize(active);
  // The largest first, because it gets the remainder of the rounding. Among equal ones, the newest
  // grows and the oldest shrinks: `active` is sorted by age, the latest set last.
  if (to_add > 0) std::reverse(active.begin(), active.end());
  std::stable_sort(active.begin(), active.end(),
                   [](const SetPtr& a, const SetPtr& b) { return SizeOf(*a) > SizeOf(*b); });
  std::vector<Resize> sizes;
  int32_t added = 0;
  for (const SetPtr& set : active) {
    int32_t growth = 0;
    if (to_add > 0) growth = std::min(FairGrowth(deployment, *set), to_add - added);
    if (to_add < 0) growth = std::max(FairGrowth(deployment, *set), to_add - added);
    added += growth;
    sizes.push_back({set, SizeOf(*set) + growth});
  }
  if (!sizes.empty()) sizes[0].to = std::max(0, sizes[0].to + to_add - added);
  return sizes;
}

}  // namespace

bool IsRolling(const Deployment& deployment) {
  return deployment.spec.strategy.type == apps::v1::kRollingUpdateDeploymentStrategyType;
}

Bounds BoundsOf(const Deployment& deployment) {
  if (!IsRolling(deployment)) return {};
  const apps::v1::RollingUpdateDeployment* rolling = deployment.spec.strategy.rollingUpdate.get();
  const int32_t size = SizeOf(deployment);
  Bounds bounds;
  if (rolling != nullptr) {
    bounds.surge = Share(rolling->maxSurge, size, true);
    bounds.unavailable = Share(rolling->maxUnavailable, size, false);
  }
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = 1;
  bounds.unavailable = std::min(bounds.unavailable, size);
  return bounds;
}

int32_t LatestSize(const Deployment& deployment, int32_t size, int32_t total) {
  const int32_t wanted = SizeOf(deployment);
  if (!IsRolling(deployment) || size >= wanted) return wanted;
  const int32_t room = wanted + BoundsOf(deployment).surge - total;
  return size + std::clamp(room, 0, wanted - size);
}

std::vector<Resize> ShrinkOld(const Deployment& deployment, const ReplicaSets& sets) {
  const ReplicaSet& latest = *sets.latest;
  const int32_t min_available = SizeOf(deployment) - BoundsOf(deployment).unavailable;
  const int32_t latest_unavailable = SizeOf(latest) - latest.status.availableReplicas;
  // Based on sizes, because they include earlier scale-downs that the statuses may not show yet.
  int32_t room = TotalSize(sets.All()) - min_available - latest_unavailable;
  int32_t available = latest.status.availableReplicas;
  for (const SetPtr& set : sets.old) {
    available += std::min(set->status.availableReplicas, SizeOf(*set));
  }
  if (room <= 0) return {};

  std::vector<Resize> sizes;
  for (const SetPtr& set : sets.ActiveOld()) sizes.push_back({set, SizeOf(*set)});
  for (Resize& resize : sizes) {
    const int32_t unavailable = resize.to - resize.set->status.availableReplicas;
    const int32_t taken = std::clamp(unavailable, 0, room);
    resize.to -= taken;
    room -= taken;
  }
  int32_t spare = std::min(room, std::max(0, available - min_available));
  for (Resize& resize : sizes) {
    const int32_t taken = std::min(resize.to, spare);
    resize.to -= taken;
    spare -= taken;
  }
  std::erase_if(sizes, [](const Resize& resize) { return resize.to == SizeOf(*resize.set); });
  return sizes;
}

bool IsScaling(const Deployment& deployment, const ReplicaSets& sets) {
  const std::vector<SetPtr> all = sets.All();
  return std::any_of(all.begin(), all.end(), [&](const SetPtr& set) {
    if (SizeOf(*set) == 0) return false;
    const auto desired = IntAnnotation(set->metadata, kDesiredReplicas);
    return desired && *desired != SizeOf(deployment);
  });
}

std::vector<Resize> ScaleAll(const Deployment& deployment, const ReplicaSets& sets) {
  if (const SetPtr only = OnlyActive(sets)) return {{only, SizeOf(deployment)}};
  if (IsSaturated(deployment, sets.latest)) {
    std::vector<Resize> emptied;
    for (const SetPtr& set : sets.ActiveOld()) emptied.push_back({set, 0});
    return emptied;
  }
  if (IsRolling(deployment)) return Proportional(deployment, sets);
  // The strategy changed during a rollout: sizes are kept until the sets are replaced.
  std::vector<Resize> kept;
  for (const SetPtr& set : sets.All()) kept.push_back({set, SizeOf(*set)});
  return kept;
}

}  // namespace cox::controllers::deployment
