// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/admission/plugins/shared/amounts.h"

namespace cox::apiserver::amounts {

// The total resources of a Pod.
struct PodResources {
  Amounts requests;
  Amounts limits;
};

// The resources of containers are summed. Init containers run one at a time, concurrently with the
// sidecars that were started before them, and count if their total is larger. Pod-level resources
// replace those of the containers. The overhead of the RuntimeClass is added. During a resize, the
// maximum of requested and allocated resources counts.
PodResources ResourcesOf(const core::v1::Pod& pod);

// The resources in the spec only, without overhead and without the state of a resize.
PodResources SpecResources(const core::v1::PodSpec& spec);

// Reports whether the Pod has pod-level resources.
bool HasPodLevelResources(const core::v1::Pod& pod);

}  // namespace cox::apiserver::amounts
