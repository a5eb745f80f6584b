// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// Prepares a pod for creation: generation 1, status Pending with the QoS class, the condition for
// scheduling gates, selectors completed from the pod's labels (matchLabelKeys), AppArmor profiles
// from old annotations. The client's status is discarded.
void PrepareNewPod(core::v1::Pod& pod, const Time& now);

}  // namespace cox::apiserver
