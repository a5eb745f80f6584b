// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers::pods {

// What Pods say about how dear they are: the cheapest go first. An int32, 0 if it is absent or
// none.
inline constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// The `count` of `pods` that are missed least, in this order, the first difference decides:
//   1. without a node before those on one
//   2. Pending before Unknown before Running
//   3. not ready before ready
//   4. a lower pod-deletion-cost
//   5. on a node with more Pods of the same purpose (`related`: those of all replica sets of a
//      deployment, `pods` among them)
//   6. ready for a shorter time
//   7. more restarts of containers, then of sidecars
//   8. created more recently
// Times count by powers of two, so that of Pods of about the same age not always the youngest goes
// (those share a failure domain); among equals the uid decides, which is as good as chance.
std::vector<PodPtr> PodsToDelete(std::vector<PodPtr> pods, const std::vector<PodPtr>& related,
                                 size_t count, const Time& now);

}  // namespace cox::controllers::pods
