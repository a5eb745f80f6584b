// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "controllers/shared/pods/pod_state.h"

namespace cox::controllers::pods {

// Annotation: Pods with a lower cost are deleted first. An int32; 0 if it is absent or invalid.
inline constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// Returns the `count` Pods to delete first. The first difference decides:
//   1. unassigned before assigned to a node
//   2. Pending before Unknown before Running
//   3. not ready before ready
//   4. a lower pod-deletion-cost
//   5. on a node with more related Pods (`related`: the Pods of all ReplicaSets of the deployment,
//      including `pods`)
//   6. ready for a shorter time
//   7. more restarts of containers, then of sidecars
//   8. created more recently
// Times are compared by powers of two, so that among Pods of similar age the youngest is not always
// deleted (such Pods may share a failure domain). The uid breaks ties, which is equivalent to a
// random choice.
std::vector<PodPtr> PodsToDelete(std::vector<PodPtr> pods, const std::vector<PodPtr>& related,
                                 size_t count, const Time& now);

}  // namespace cox::controllers::pods
