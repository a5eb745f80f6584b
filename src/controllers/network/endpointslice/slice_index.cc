// SPDX-License-Identifier: Apache-2.0
#include "controllers/network/endpointslice/slice_index.h"

#include <algorithm>
#include <utility>

namespace cox::controllers {

using discovery::v1::Endpoint;
using discovery::v1::EndpointSlice;

GroupKey GroupOf(const EndpointSlice& slice) { return {slice.addressType, PortsKey(slice.ports)}; }

SliceIndex::SliceIndex(const std::vector<SlicePtr>& slices) {
  for (const SlicePtr& slice : slices) Put(slice);
}

void SliceIndex::Put(SlicePtr slice) {
  SlicePtr& stored = slices_[slice->metadata.name];
  if (stored != nullptr) Drop(*stored);
  stored = std::move(slice);
  for (const Endpoint& endpoint : stored->endpoints) {
    if (endpoint.targetRef) by_pod_.emplace(endpoint.targetRef->name, stored.get());
  }
}

void SliceIndex::Drop(const EndpointSlice& slice) {
  for (const Endpoint& endpoint : slice.endpoints) {
    if (!endpoint.targetRef) continue;
    auto [at, end] = by_pod_.equal_range(endpoint.targetRef->name);
    while (at != end) at = at->second == &slice ? by_pod_.erase(at) : std::next(at);
  }
}

bool IsSameVersion(const EndpointSlice& a, const EndpointSlice& b) {
  return a.metadata.uid == b.metadata.uid &&
         a.metadata.resourceVersion == b.metadata.resourceVersion;
}

bool SliceIndex::HasSameVersions(const std::vector<SlicePtr>& slices) const {
  return slices.size() == slices_.size() &&
         std::all_of(slices.begin(), slices.end(), [this](const SlicePtr& slice) {
           const auto found = slices_.find(slice->metadata.name);
           return found != slices_.end() && IsSameVersion(*found->second, *slice);
         });
}

std::vector<SlicePtr> SliceIndex::FindByPods(const std::set<std::string>& pods) const {
  std::set<std::string_view> names;
  for (const std::string& pod : pods) {
    const auto [begin, end] = by_pod_.equal_range(pod);
    for (auto at = begin; at != end; ++at) names.insert(at->second->metadata.name);
  }
  std::vector<SlicePtr> found;
  found.reserve(names.size());
  for (const std::string_view name : names)
    found.push_back(slices_.find(std::string(name))->second);
  return found;
}

SlicePtr SliceIndex::FindSliceWithRoom(const GroupKey& group, size_t room,
                                       const std::vector<SlicePtr>& except) const {
  SlicePtr best;
  for (const auto& [name, slice] : slices_) {
    if (slice->endpoints.size() + room > kMaxEndpointsPerSlice) continue;
    if (best != nullptr && slice->endpoints.size() <= best->endpoints.size()) continue;
    if (GroupOf(*slice) != group) continue;
    if (std::find(except.begin(), except.end(), slice) == except.end()) best = slice;
  }
  return best;
}

bool SliceIndex::Contains(const GroupKey& group) const {
  return std::any_of(slices_.begin(), slices_.end(),
                     [&group](const auto& entry) { return GroupOf(*entry.second) == group; });
}

}  // namespace cox::controllers
