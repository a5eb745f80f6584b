// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "api/core/v1.h"
#include "base/clock.h"

// Selects Pods that no other component removes. Pure functions of objects.
namespace cox::controllers {

using PodPtr = std::shared_ptr<const core::v1::Pod>;

// Deleted before it was bound to a node: there is no kubelet that would finish the deletion.
bool IsUnscheduledAndDeleted(const core::v1::Pod& pod);
// The node has the out-of-service taint and is not Ready: none of its Pods can be running, so they
// are deleted without the kubelet's confirmation.
bool IsOutOfService(const core::v1::Node& node);

// Returns the terminated Pods that exceed `threshold`: evicted Pods first, then the oldest. A
// threshold of 0 or less disables this.
std::vector<PodPtr> BeyondThreshold(std::vector<PodPtr> ended, int threshold);

// Sets phase Failed on a Pod that is not terminal. With `node_gone` also sets the condition
// DisruptionTarget, so that controllers do not count it as a Pod failure. Returns false and changes
// nothing if the Pod is terminal.
bool MarkFailed(bool node_gone, const Time& now, core::v1::Pod& pod);

}  // namespace cox::controllers
