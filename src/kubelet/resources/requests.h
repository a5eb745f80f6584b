// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/core/v1.h"

// What a Pod asks for and may use. Pure functions.
namespace cox::kubelet {

// Guaranteed, Burstable or BestEffort. What the API server wrote stands, because it never changes
// for a Pod; without it, it is computed.
std::string QosClass(const core::v1::Pod& pod);

struct PodAmount {
  int64_t value = 0;       // milli CPUs or bytes
  bool everywhere = true;  // every container declares it: only then can the whole be limited
};
// Requests of the whole Pod: the main containers and sidecars together, or what an init container
// needs at its turn where that is more; overhead added. Pod-level resources come before all that.
// `resource` is "cpu" (in thousandths) or another (in units).
PodAmount PodRequest(const core::v1::Pod& pod, std::string_view resource);
PodAmount PodLimit(const core::v1::Pod& pod, std::string_view resource);

// Of one container; a request that is not given is the limit. 0 if there is neither.
int64_t ContainerRequest(const core::v1::Container& container, std::string_view resource);
int64_t ContainerLimit(const core::v1::Container& container, std::string_view resource);

// How soon the kernel ends the container's processes when memory runs out, -997 (last) to 1000.
// `capacity`: the node's memory in bytes.
int OomScoreAdjust(const core::v1::Pod& pod, const core::v1::Container& container,
                   int64_t capacity);

}  // namespace cox::kubelet
