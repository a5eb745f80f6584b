// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coxswain/manager.h"

namespace cox::controllers {

// Deletes Pods from nodes whose NoExecute taints they do not tolerate, or no longer tolerate.
//
// The key is the node: one reconciliation covers all its Pods and sets one timer, for the next
// eviction.
Status AddTaintEvictionController(Manager& manager);

}  // namespace cox::controllers
