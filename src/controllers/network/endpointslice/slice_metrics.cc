// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_metrics.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "controllers/network/endpointslice/slice_index.h"

namespace cox::controllers {
namespace {

using discovery::v1::Endpoint;
using discovery::v1::EndpointSlice;

// The values of the label traffic_distribution; 0: not counted. The last one stands for values that
// this controller does not know.
constexpr std::string_view kDistributionNames[] = {"", "PreferClose", "PreferSameZone",
                                                   "PreferSameNode", "ImplementationSpecific"};

size_t DistributionOf(const core::v1::Service& service) {
  const auto* const known =
      std::find(std::begin(kDistributionNames), std::end(kDistributionNames) - 1,
                service.spec.trafficDistribution.value_or(""));
  return static_cast<size_t>(known - std::begin(kDistributionNames));
}

MetricOptions Named(std::string_view name, std::string help) {
  return {.name = "endpoint_slice_controller_" + std::string(name),
          .help = std::move(help),
          .stability = Stability::kBeta};
}

// An endpoint that is replaced by one with another address or Pod counts as removed and added.
std::string IdentityOf(const GroupKey& group, const Endpoint& endpoint) {
  std::string identity = group.first + '/' + group.second + '/';
  if (!endpoint.addresses.empty()) identity += endpoint.addresses[0];
  if (endpoint.targetRef) identity += '/' + endpoint.targetRef->uid;
  return identity;
}

}  // namespace

GroupSizes SizesOf(const EndpointGroups& groups) {
  GroupSizes sizes;
  for (const auto& [key, group] : groups) sizes.emplace(key, group.endpoints.size());
  return sizes;
}

EndpointChanges ChangesOf(const std::vector<SlicePtr>& existing, const SlicePlan& plan) {
  EndpointChanges changes;
  if (plan.empty()) return changes;
  std::set<std::string> before;
  std::set<std::string> after;
  const auto count = [&](const EndpointSlice& slice, std::set<std::string>& into, int64_t sign) {
    const GroupKey group = GroupOf(slice);
    for (const Endpoint& endpoint : slice.endpoints) into.insert(IdentityOf(group, endpoint));
    changes.by_group[group] += sign * static_cast<int64_t>(slice.endpoints.size());
  };
  for (const EndpointSlice& slice : plan.create) count(slice, after, 1);
  for (const EndpointSlice& slice : plan.update) count(slice, after, 1);
  for (const SlicePtr& slice : plan.remove) count(*slice, before, -1);
  std::unordered_set<std::string_view> updated;
  for (const EndpointSlice& slice : plan.update) updated.insert(slice.metadata.name);
  for (const SlicePtr& slice : existing) {
    if (updated.contains(slice->metadata.name)) count(*slice, before, -1);
  }
  for (const std::string& endpoint : after) changes.added += before.contains(endpoint) ? 0 : 1;
  for (const std::string& endpoint : before) changes.removed += after.contains(endpoint) ? 0 : 1;
  return changes;
}

SliceMetrics::SliceMetrics(MetricsRegistry& registry)
    : added_(registry.AddHistogram(
          Named("endpoints_added_per_sync", "Endpoints that a sync of a Service added."),
          ExponentialBuckets(2, 2, 15))),
      removed_(registry.AddHistogram(
          Named("endpoints_removed_per_sync", "Endpoints that a sync of a Service removed."),
          ExponentialBuckets(2, 2, 15))),
      endpoints_(registry.AddGauge(
          Named("endpoints_desired", "Endpoints that the slices of all Services should have."))),
      slices_(registry.AddGauge(Named("num_endpoint_slices", "EndpointSlices of all Services."))),
      desired_(registry.AddGauge(
          Named("desired_endpoint_slices",
                "EndpointSlices that all Services would have if every slice were full."))),
      distributions_(
          registry.AddGaugeVec(Named("services_count_by_traffic_distribution",
                                     "Services that set trafficDistribution, by its value."),
                               {"traffic_distribution"})) {}

void SliceMetrics::Synced(const core::v1::Service& service, const GroupSizes& sizes, size_t slices,
                          const EndpointChanges& changes) {
  added_.Observe(static_cast<double>(changes.added));
  removed_.Observe(static_cast<double>(changes.removed));
  Part now{.slices = slices, .distribution = DistributionOf(service)};
  for (const auto& [group, size] : sizes) {
    now.endpoints += size;
    now.desired += (size + kMaxEndpointsPerSlice - 1) / kMaxEndpointsPerSlice;
  }
  // A Service without endpoints has an empty slice.
  now.desired = std::max<size_t>(now.desired, 1);
  MutexLock lock(mu_);
  Part& part = parts_[KeyOf(service)];
  Replace(std::exchange(part, now), now);
}

void SliceMetrics::Forget(const ObjectKey& service) {
  MutexLock lock(mu_);
  const auto node = parts_.extract(service);
  if (!node.empty()) Replace(node.mapped(), {});
}

void SliceMetrics::Replace(const Part& before, const Part& after) {
  const auto change = [](Gauge& total, size_t old, size_t now) {
    if (old != now) total.Add(static_cast<double>(now) - static_cast<double>(old));
  };
  change(endpoints_, before.endpoints, after.endpoints);
  change(slices_, before.slices, after.slices);
  change(desired_, before.desired, after.desired);
  if (before.distribution == after.distribution) return;
  const auto count = [this](size_t number) -> Gauge& {
    return distributions_.Of(number, {kDistributionNames[number]});
  };
  if (before.distribution != 0) count(before.distribution).Dec();
  if (after.distribution != 0) count(after.distribution).Inc();
}

}  // namespace cox::controllers
