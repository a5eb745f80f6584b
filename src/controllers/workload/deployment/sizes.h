// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "controllers/workload/deployment/revisions.h"

// How large each ReplicaSet of a deployment is to be. Pure functions.
namespace cox::controllers::deployment {

bool IsRolling(const apps::v1::Deployment& deployment);

// How many Pods more than wanted there may be while rolling (shares are rounded up), and how many
// fewer may be available (rounded down). Both zero would never get anywhere: then one may be
// unavailable. Of another strategy, and for maxUnavailable of an empty deployment: 0.
struct Bounds {
  int32_t surge = 0;
  int32_t unavailable = 0;
};
Bounds BoundsOf(const apps::v1::Deployment& deployment);

// One change: that set, to that size.
struct Resize {
  SetPtr set;
  int32_t to = 0;
};

// The size of the latest set (`size` now) beside sets that want `total` Pods together, itself
// included: as large as wanted, as far as the surge allows.
int32_t LatestSize(const apps::v1::Deployment& deployment, int32_t size, int32_t total);

// Rolling: which old sets shrink, so that enough stay available. First what is not available
// anyway, which costs nothing; then what the others have made up for; the oldest first.
// REQUIRES: sets.latest
std::vector<Resize> ShrinkOld(const apps::v1::Deployment& deployment, const ReplicaSets& sets);

// Whether the deployment's size has changed since its sets were sized.
bool IsScaling(const apps::v1::Deployment& deployment, const ReplicaSets& sets);
// What a deployment that was scaled, or is paused, makes of its sets: one active set takes all; a
// rollout that is complete empties old sets; in the midst of one each set gets its share of the
// difference, the largest the rest. Sets that keep their size are in it too: their annotations
// may have to change.
std::vector<Resize> ScaleAll(const apps::v1::Deployment& deployment, const ReplicaSets& sets);

}  // namespace cox::controllers::deployment
