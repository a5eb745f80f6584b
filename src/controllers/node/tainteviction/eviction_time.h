// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "api/core/v1.h"

// Whether and when a Pod has to leave a node for its taints. Pure functions.
namespace cox::controllers {

// The node's taints that evict.
List<core::v1::Taint> NoExecuteTaints(const core::v1::Node& node);

// None: it stays. The zero time: at once, for it does not tolerate a taint. Else when the first
// toleration is used up: counted from when the taint was put on (timeAdded; REQUIRED in each) or
// the Pod came to the node, whichever was later, so that restarts of this program give no Pod more
// time.
std::optional<Time> EvictionTime(const core::v1::Pod& pod, const List<core::v1::Taint>& no_execute);

}  // namespace cox::controllers
