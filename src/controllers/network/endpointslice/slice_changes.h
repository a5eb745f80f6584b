// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "controllers/network/endpointslice/slice_index.h"
#include "coxswain/object_key.h"

namespace cox::controllers {

// The Pods that have changed since the last sync of their Service.
//
// Threads: all methods may be called concurrently.
class ChangedPods {
 public:
  struct Changes {
    bool all = false;  // any Pod may have changed
    std::set<std::string> pods;
  };
  void Add(const ObjectKey& service, const std::string& pod);
  void AddAll(const ObjectKey& service);
  // Returns the changes and forgets them.
  Changes Take(const ObjectKey& service);

 private:
  Mutex mu_;
  std::unordered_map<ObjectKey, Changes> changes_ COX_GUARDED_BY(mu_);
};

// The plan for a few Pods of a Service.
struct ChangePlan {
  SlicePlan plan;
  std::vector<SlicePtr> existing;  // the slices that were considered
};

// Plans the slices of a Service after `changed` Pods changed. `groups` are the endpoints of these
// Pods; the other endpoints are kept. Fills the slices of the changed Pods first, then the slice
// with the least room. Returns nullopt if all slices have to be planned: a slice becomes empty, or
// endpoints have new ports. Pure. Costs: proportional to the slices, and to the endpoints of those
// slices that change.
std::optional<ChangePlan> PlanChanges(const core::v1::Service& service, const SliceIndex& index,
                                      const std::set<std::string>& changed, EndpointGroups groups);

}  // namespace cox::controllers
