// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/deployment/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// deployment-controller: a ReplicaSet for each Pod template that a deployment has had, and Pods
// moved from the old ones to the latest as its strategy says (deployment/rollout.h). The sets are
// its history: revisions, which kubectl rollout shows and goes back to.
Status AddDeploymentController(Manager& manager, const DeploymentOptions& options);

}  // namespace cox::controllers
