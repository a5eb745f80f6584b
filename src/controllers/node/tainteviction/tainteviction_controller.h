// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coxswain/manager.h"

namespace cox::controllers {

// Deletes Pods from nodes whose NoExecute taints they do not tolerate, or no longer.
//
// Works by node: a look at one decides about all its Pods and sets one timer, at the moment at
// which the next of them has to go.
Status AddTaintEvictionController(Manager& manager);

}  // namespace cox::controllers
