// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// What a pod that is being created begins with: generation 1, status Pending with its QoS class,
// the condition that says it is held back by scheduling gates, selectors completed from the pod's
// own labels (matchLabelKeys), security profiles that old annotations name. What the client said
// about the status goes.
void PrepareNewPod(core::v1::Pod& pod, const Time& now);

}  // namespace cox::apiserver
