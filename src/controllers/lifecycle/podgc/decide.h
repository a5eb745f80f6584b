// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"

// Which Pods nobody else will ever remove. Pure functions of objects.
namespace cox::controllers {

using PodPtr = std::shared_ptr<const core::v1::Pod>;

// Deleted before it was given to a node: there is no kubelet that would finish it.
bool IsUnscheduledAndDeleted(const core::v1::Pod& pod);
// Somebody has said that the node is off and will not come back by itself, and it does not answer:
// nothing of it can run, so its Pods need no confirmation.
bool IsOutOfService(const core::v1::Node& node);

// Of Pods that have ended, those beyond `threshold`: evicted ones first, then the oldest.
// `threshold` 0 or less: none.
std::vector<PodPtr> BeyondThreshold(std::vector<PodPtr> ended, int threshold);

// Sets phase Failed on a Pod that has not ended; with `node_gone` also the condition that tells
// its controller that this was a disruption and no failure of its own. False, and nothing set, if
// it has ended.
bool MarkFailed(bool node_gone, const Time& now, core::v1::Pod& pod);

}  // namespace cox::controllers
