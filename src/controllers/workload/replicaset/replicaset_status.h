// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apps/v1.h"
#include "base/status.h"
#include "controllers/shared/pods/pod_state.h"

// Computes the status of a ReplicaSet. Pure functions.
namespace cox::controllers::replicaset {

// The result of creating or deleting Pods.
struct Managed {
  bool creating = false;  // there were too few Pods
  Status error;
};

// Returns the status of `set` with its active Pods and the number of its terminating ones.
apps::v1::ReplicaSetStatus StatusOf(const apps::v1::ReplicaSet& set,
                                    const std::vector<pods::PodPtr>& active, size_t terminating,
                                    const Managed& managed, const Time& now);

}  // namespace cox::controllers::replicaset
