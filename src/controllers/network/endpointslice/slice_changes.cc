// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_changes.h"

#include <map>
#include <utility>

namespace cox::controllers {

using discovery::v1::Endpoint;

void ChangedPods::Add(const ObjectKey& service, const std::string& pod) {
  MutexLock lock(mu_);
  Changes& changes = changes_[service];
  if (!changes.all) changes.pods.insert(pod);
}

void ChangedPods::AddAll(const ObjectKey& service) {
  MutexLock lock(mu_);
  changes_[service] = {.all = true, .pods = {}};
}

ChangedPods::Changes ChangedPods::Take(const ObjectKey& service) {
  MutexLock lock(mu_);
  const auto node = changes_.extract(service);
  return node.empty() ? Changes() : std::move(node.mapped());
}

std::optional<ChangePlan> PlanChanges(const core::v1::Service& service, const SliceIndex& index,
                                      const std::set<std::string>& changed, EndpointGroups groups) {
  ChangePlan out{.plan = {}, .existing = index.FindByPods(changed)};
  std::map<GroupKey, size_t> capacity;
  for (const SlicePtr& slice : out.existing) {
    const GroupKey key = GroupOf(*slice);
    capacity[key] += kMaxEndpointsPerSlice;
    EndpointGroup& group = groups[key];
    group.ports = slice->ports;
    for (const Endpoint& endpoint : slice->endpoints) {
      if (endpoint.targetRef && changed.contains(endpoint.targetRef->name)) continue;
      group.endpoints.push_back(endpoint);
    }
  }
  for (auto& [key, group] : groups) {
    const size_t size = group.endpoints.size();
    if (size == 0) return std::nullopt;
    const size_t room = capacity[key];
    if (room == 0 && !index.Contains(key)) return std::nullopt;
    if (size <= room || size - room >= kMaxEndpointsPerSlice) continue;
    if (const SlicePtr best = index.FindSliceWithRoom(key, size - room, out.existing)) {
      group.ports = best->ports;
      group.endpoints.insert(group.endpoints.end(), best->endpoints.begin(), best->endpoints.end());
      out.existing.push_back(best);
    }
  }
  out.plan = PlanGroups(service, out.existing, std::move(groups));
  // A slice has become empty while others of its group were not considered.
  if (!out.plan.remove.empty()) return std::nullopt;
  return out;
}

}  // namespace cox::controllers
