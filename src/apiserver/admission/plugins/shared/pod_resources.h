// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "apiserver/admission/plugins/shared/amounts.h"

namespace cox::apiserver::amounts {

// What a Pod as a whole takes of each resource.
struct PodResources {
  Amounts requests;
  Amounts limits;
};

// Containers add up. Init containers run one after another, before the others but beside the
// sidecars that were started until then: the largest of them counts if it is more. Amounts of the
// Pod as a whole, where given, count instead of those of its containers. The overhead of its
// runtime comes on top. While a resize is under way the larger of what is wanted and what is there
// counts.
PodResources ResourcesOf(const core::v1::Pod& pod);

// The same of what the user asked for: without overhead, and whatever became of it.
PodResources AskedFor(const core::v1::PodSpec& spec);

// Whether amounts are given for the Pod as a whole.
bool HasPodLevelResources(const core::v1::Pod& pod);

}  // namespace cox::apiserver::amounts
