// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/replicaset/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// replicaset-controller: keeps as many Pods of a ReplicaSet as it wants, and tells in its status
// how many there are.
//
// A look at a set: claim its Pods (adopt, release), create or delete what is missing or too much,
// at most 500 at a time, write the status if it differs. It looks again when Pods of the set change
// in what the status tells, when minReadySeconds of one are over, and when a failure may have
// passed.
Status AddReplicaSetController(Manager& manager, const ReplicaSetOptions& options);

}  // namespace cox::controllers
