// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/podgc/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Removes Pods that nobody else will: those of nodes that are gone (after 40 s, and a look at the
// server) or out of service, those deleted before they had a node, and of those that have ended the
// ones beyond options.terminated_pod_threshold.
Status AddPodGcController(Manager& manager, const PodGcOptions& options);

}  // namespace cox::controllers
