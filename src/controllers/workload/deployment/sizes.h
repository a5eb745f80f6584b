// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "controllers/workload/deployment/revisions.h"

// Computes the size of each ReplicaSet of a deployment. Pure functions.
namespace cox::controllers::deployment {

bool IsRolling(const apps::v1::Deployment& deployment);

// maxSurge (percentages are rounded up) and maxUnavailable (rounded down) of a rolling update. If
// both are 0, the rollout could not proceed, so unavailable becomes 1. Both are 0 for other
// strategies; unavailable is also 0 for a deployment with 0 replicas.
struct Bounds {
  int32_t surge = 0;
  int32_t unavailable = 0;
};
Bounds BoundsOf(const apps::v1::Deployment& deployment);

// A set and its new size.
struct Resize {
  SetPtr set;
  int32_t to = 0;
};

// Returns the size of the latest set, whose current size is `size`: up to the deployment's
// replicas, limited by the surge. `total` is the sum of the sizes of all sets, including this one.
int32_t LatestSize(const apps::v1::Deployment& deployment, int32_t size, int32_t total);

// Rolling update: returns the old sets to scale down so that enough Pods stay available.
// Unavailable Pods are removed first, then those that available Pods of other sets replace; the
// oldest set first.
// REQUIRES: sets.latest
std::vector<Resize> ShrinkOld(const apps::v1::Deployment& deployment, const ReplicaSets& sets);

// Returns whether the deployment's replicas changed since its sets were sized.
bool IsScaling(const apps::v1::Deployment& deployment, const ReplicaSets& sets);
// Returns the new sizes of all sets of a deployment that was scaled or is paused. A single active
// set gets all replicas. If the rollout is complete, old sets are scaled to 0. During a rollout
// each set gets its share of the difference, the largest the remainder. Sets with unchanged size
// are included, because their annotations may have to change.
std::vector<Resize> ScaleAll(const apps::v1::Deployment& deployment, const ReplicaSets& sets);

}  // namespace cox::controllers::deployment
