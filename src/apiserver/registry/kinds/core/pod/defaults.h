// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// Sets the defaults of a pod: those of its spec (SetPodSpecDefaults, pod_validation.h), and those
// that templates do not get: requests from limits, service links, a grace period that is not
// negative. Idempotent.
void SetPodDefaults(core::v1::Pod& pod);

}  // namespace cox::apiserver
