// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apps/v1.h"
#include "base/status.h"
#include "controllers/shared/pods/pod_state.h"

// What a ReplicaSet's status says. Pure functions.
namespace cox::controllers::replicaset {

// What came of making the number of Pods right.
struct Managed {
  bool creating = false;  // there were too few; else too many, or just enough
  Status error;
};

// The status of `set` with these Pods: the active ones of its own, and how many more are going.
apps::v1::ReplicaSetStatus StatusOf(const apps::v1::ReplicaSet& set,
                                    const std::vector<pods::PodPtr>& active, size_t terminating,
                                    const Managed& managed, const Time& now);

}  // namespace cox::controllers::replicaset
