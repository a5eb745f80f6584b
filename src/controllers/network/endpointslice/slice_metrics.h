// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/series_cache.h"
#include "controllers/network/endpointslice/slice_plan.h"
#include "coxswain/object_key.h"

namespace cox::controllers {

// Endpoints by the group of their slices.
using GroupSizes = std::map<GroupKey, size_t>;
GroupSizes SizesOf(const EndpointGroups& groups);

// How a plan changes the endpoints.
struct EndpointChanges {
  size_t added = 0;
  size_t removed = 0;
  std::map<GroupKey, int64_t> by_group;  // growth of each group
};
// Pure. `existing` contains all slices that the plan updates. The cost is proportional to the
// number of endpoints in the slices of the plan.
EndpointChanges ChangesOf(const std::vector<SlicePtr>& existing, const SlicePlan& plan);

// The metrics of the EndpointSlice controller, with upstream's names:
// endpoint_slice_controller_*. The totals of all Services change by the difference of one Service.
//
// Threads: all methods may be called concurrently, for one Service by one thread at a time.
class SliceMetrics {
 public:
  explicit SliceMetrics(MetricsRegistry& registry);

  // Records a sync. `sizes` and `slices` describe the Service after it.
  void Synced(const core::v1::Service& service, const GroupSizes& sizes, size_t slices,
              const EndpointChanges& changes);
  // The Service does not exist or has no slices of this controller.
  void Forget(const ObjectKey& service);

 private:
  static constexpr size_t kDistributions = 5;
  // The part of one Service in the totals.
  struct Part {
    size_t endpoints = 0;
    size_t slices = 0;
    size_t desired = 0;
    size_t distribution = 0;  // number of its label; 0: not counted
  };

  void Replace(const Part& before, const Part& after);

  Histogram& added_;
  Histogram& removed_;
  Gauge& endpoints_;
  Gauge& slices_;
  Gauge& desired_;
  SeriesCache<Gauge, kDistributions> distributions_;
  Mutex mu_;
  std::unordered_map<ObjectKey, Part> parts_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers
