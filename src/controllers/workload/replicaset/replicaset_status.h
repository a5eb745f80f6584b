// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/apps/v1.h"
#include "base/status.h"
#include "controllers/shared/pods/pod_counter.h"

// Computes the status of a ReplicaSet. Pure functions.
namespace cox::controllers::replicaset {

// The result of creating or deleting Pods.
struct Managed {
  bool creating = false;  // there were too few Pods
  Status error;
};

apps::v1::ReplicaSetStatus StatusOf(const apps::v1::ReplicaSet& set,
                                    const pods::PodCounter::Counts& counts, const Managed& managed,
                                    const Time& now);

// Returns whether `status` must be written at once, even if many Pods of the set are changing: the
// set is complete now, its generation was observed, or a condition has changed. Other changes of
// the counts of a large set are batched.
bool IsUrgent(const apps::v1::ReplicaSet& set, const apps::v1::ReplicaSetStatus& status);

}  // namespace cox::controllers::replicaset
