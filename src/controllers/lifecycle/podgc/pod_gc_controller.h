// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/podgc/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Deletes Pods that no other component removes: Pods of deleted nodes (after 40 s and a check with
// the API server) and of nodes that are out of service, Pods that were deleted before they were
// bound, and terminated Pods beyond options.terminated_pod_threshold.
Status AddPodGcController(Manager& manager, const PodGcOptions& options);

}  // namespace cox::controllers
