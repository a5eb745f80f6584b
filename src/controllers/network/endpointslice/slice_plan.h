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
// More would make each change costlier to send to every node, fewer make more objects.
inline constexpr size_t kMaxEndpointsPerSlice = 100;

// The writes that lead from the slices there are to those there should be. A slice that is in none
// of the lists stays as it is.
struct SlicePlan {
  List<discovery::v1::EndpointSlice> create;  // with generateName
  List<discovery::v1::EndpointSlice> update;
  std::vector<std::shared_ptr<const discovery::v1::EndpointSlice>> remove;

  bool empty() const { return create.empty() && update.empty() && remove.empty(); }
};

using SlicePtr = std::shared_ptr<const discovery::v1::EndpointSlice>;

// Pure. Every write reaches every node, so the plan has few of them rather than few slices:
//   1. what changed or went is changed where it is;
//   2. what is new goes to slices that are written anyway, then fills the fullest that has room for
//      all the rest, then makes new slices;
//   3. slices left empty go; one of each family stays for a Service without endpoints.
SlicePlan PlanSlices(const core::v1::Service& service, const std::vector<SlicePtr>& existing,
                     EndpointGroups groups);

// The earliest moment that made this change necessary, as far as Pods tell: when those that are new
// or changed became (un)ready, or when the Service was made. Zero: not known.
Time TriggerTime(const core::v1::Service& service, const std::vector<SlicePtr>& existing,
                 const SlicePlan& plan,
                 const std::vector<std::shared_ptr<const core::v1::Pod>>& pods);
// Writes it down in all that is written, or nothing for zero.
void StampTriggerTime(const Time& time, SlicePlan& plan);

}  // namespace cox::controllers
