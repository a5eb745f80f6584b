// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "controllers/network/endpointslice/slice_plan.h"

namespace cox::controllers {

// Compares versions and not addresses, because a cache may decode an object more than once.
bool IsSameVersion(const discovery::v1::EndpointSlice& a, const discovery::v1::EndpointSlice& b);

// The slices of one Service in the state that this controller last read or wrote, and which of them
// contain a Pod.
//
// Costs: proportional to the slices for HasSameVersions and FindSliceWithRoom, to the endpoints of
//   the slice for Put, and to the Pods in question for FindByPods. Shares the slices with the
//   cache.
// Threads: one at a time.
class SliceIndex {
 public:
  explicit SliceIndex(const std::vector<SlicePtr>& slices);

  // Adds the slice or replaces the one with its name.
  void Put(SlicePtr slice);
  // Returns whether these are the same slices in the same versions.
  bool HasSameVersions(const std::vector<SlicePtr>& slices) const;
  // The slices that contain an endpoint of one of the Pods, without duplicates, sorted by name.
  std::vector<SlicePtr> FindByPods(const std::set<std::string>& pods) const;
  // The slice of this group with the least room that is enough, without those in `except`; null:
  // none.
  SlicePtr FindSliceWithRoom(const GroupKey& group, size_t room,
                             const std::vector<SlicePtr>& except) const;
  bool Contains(const GroupKey& group) const;
  const std::map<std::string, SlicePtr>& slices() const { return slices_; }  // by name
  size_t endpoints() const { return by_pod_.size(); }                        // with a Pod

 private:
  void Drop(const discovery::v1::EndpointSlice& slice);

  std::map<std::string, SlicePtr> slices_;
  // By the name of the Pod, which refers to the slice.
  std::unordered_multimap<std::string_view, const discovery::v1::EndpointSlice*> by_pod_;
};

GroupKey GroupOf(const discovery::v1::EndpointSlice& slice);

}  // namespace cox::controllers
