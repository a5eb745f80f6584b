// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "api/core/v1.h"

// Computes whether and when a Pod is evicted because of the node's taints. Pure functions.
namespace cox::controllers {

// Returns the node's NoExecute taints.
List<core::v1::Taint> NoExecuteTaints(const core::v1::Node& node);

// Returns nullopt if the Pod stays, the zero time if it does not tolerate a taint, otherwise the
// time when the first toleration expires. It counts from timeAdded of the taint (REQUIRED in each)
// or from the time the Pod was bound, whichever is later, so that a restart of the controller does
// not extend it.
std::optional<Time> EvictionTime(const core::v1::Pod& pod, const List<core::v1::Taint>& no_execute);

}  // namespace cox::controllers
