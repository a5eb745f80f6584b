// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

// Resource requests and limits of Pods. Pure functions.
namespace cox::kubelet {

// Guaranteed, Burstable or BestEffort: status.qosClass, which is immutable; computed if it is not
// set.
std::string QosClass(const core::v1::Pod& pod);

struct PodAmount {
  int64_t value = 0;       // milli CPUs or bytes
  bool everywhere = true;  // every container declares it: only then can the whole Pod be limited
};
// Requests of the whole Pod: the sum of main containers and sidecars, or the largest init container
// if that is more; plus overhead. Pod-level resources take precedence. `resource` is "cpu" (in
// millicores) or another (in units).
PodAmount PodRequest(const core::v1::Pod& pod, std::string_view resource);
PodAmount PodLimit(const core::v1::Pod& pod, std::string_view resource);

// Requests of one container; default to the limit. 0 if there is neither.
int64_t ContainerRequest(const core::v1::Container& container, std::string_view resource);
int64_t ContainerLimit(const core::v1::Container& container, std::string_view resource);

// The oom_score_adj of the container's processes, -997 (killed last) to 1000. `capacity`: the
// node's memory in bytes.
int OomScoreAdjust(const core::v1::Pod& pod, const core::v1::Container& container,
                   int64_t capacity);

}  // namespace cox::kubelet
