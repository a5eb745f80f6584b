// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "controllers/network/endpointslice/endpoint_groups.h"

namespace cox::controllers {

inline constexpr std::string_view kServiceNameLabel = "kubernetes.io/service-name";
inline constexpr std::string_view kManagedByLabel = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByUs = "endpointslice-controller.k8s.io";
// Upstream's default. Larger slices make each update more expensive, smaller ones need more
// objects.
inline constexpr size_t kMaxEndpointsPerSlice = 100;

// The writes that turn the existing slices into the desired ones. Slices that are in none of the
// lists are unchanged.
struct SlicePlan {
  List<discovery::v1::EndpointSlice> create;  // with generateName
  List<discovery::v1::EndpointSlice> update;
  std::vector<std::shared_ptr<const discovery::v1::EndpointSlice>> remove;

  bool empty() const { return create.empty() && update.empty() && remove.empty(); }
};

using SlicePtr = std::shared_ptr<const discovery::v1::EndpointSlice>;

// Pure. Every write is sent to every node, so the plan minimizes the number of writes, not of
// slices:
//   1. changed and removed endpoints are updated in their slices;
//   2. new endpoints fill slices that are updated anyway, then the fullest slice that has room for
//      all remaining ones, then new slices;
//   3. empty slices are deleted, except one for each address family of a Service without endpoints.
SlicePlan PlanSlices(const core::v1::Service& service, const std::vector<SlicePtr>& existing,
                     EndpointGroups groups);
// The same for a part of the groups: `existing` are slices of these groups only, and a family
// without endpoints gets no placeholder.
SlicePlan PlanGroups(const core::v1::Service& service, const std::vector<SlicePtr>& existing,
                     EndpointGroups groups);

// Returns the time of the earliest cause of this change: the readiness transition of the new or
// changed Pods, or the creation of the Service. Zero: unknown.
Time TriggerTime(const core::v1::Service& service, const std::vector<SlicePtr>& existing,
                 const SlicePlan& plan,
                 const std::vector<std::shared_ptr<const core::v1::Pod>>& pods);
// Sets the trigger time annotation on all written slices, or removes it for zero.
void StampTriggerTime(const Time& time, SlicePlan& plan);

}  // namespace cox::controllers
