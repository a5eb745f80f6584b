// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/deployment/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Creates a ReplicaSet for each Pod template of a deployment and scales old sets down and the
// latest one up according to the strategy (deployment/rollout.h). The old sets are the revision
// history that kubectl rollout shows and rolls back to.
Status AddDeploymentController(Manager& manager, const DeploymentOptions& options);

}  // namespace cox::controllers
