// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apps/v1.h"
#include "controllers/workload/deployment/revisions.h"

namespace cox::controllers::deployment {

// Returns the ReplicaSet to create for the deployment's current template: named and labelled with
// the template hash, with as many replicas as the strategy allows next to `old`.
apps::v1::ReplicaSet NewReplicaSet(const apps::v1::Deployment& deployment,
                                   const std::vector<SetPtr>& old);

// Updates annotations, revision and minReadySeconds of the latest set. Returns true if `set`
// changed.
bool UpdateLatest(const apps::v1::Deployment& deployment, const std::vector<SetPtr>& old,
                  apps::v1::ReplicaSet& set);

}  // namespace cox::controllers::deployment
