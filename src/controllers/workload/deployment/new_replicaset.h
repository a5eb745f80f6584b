// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apps/v1.h"
#include "controllers/workload/deployment/revisions.h"

namespace cox::controllers::deployment {

// The ReplicaSet of the deployment's present template, as it is to be created beside `old`: named
// and labelled by the template's hash, as large as the strategy allows at once.
apps::v1::ReplicaSet NewReplicaSet(const apps::v1::Deployment& deployment,
                                   const std::vector<SetPtr>& old);

// What the latest set should be like besides its size: annotations, revision, minReadySeconds. True
// if that changed anything in `set`.
bool UpdateLatest(const apps::v1::Deployment& deployment, const std::vector<SetPtr>& old,
                  apps::v1::ReplicaSet& set);

}  // namespace cox::controllers::deployment
