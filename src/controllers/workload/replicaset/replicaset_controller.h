// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/workload/replicaset/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps the number of Pods that a ReplicaSet specifies, and reports the counts in its status.
//
// A sync claims the Pods of the set (adopt, release), creates or deletes the difference, at most
// 500 Pods, and writes the status if it has changed. The set is requeued when relevant fields of
// its Pods change, when minReadySeconds of a Pod expire, and after failures.
Status AddReplicaSetController(Manager& manager, const ReplicaSetOptions& options);

}  // namespace cox::controllers
