// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// Defaults of a whole pod: those of its spec (SetPodSpecDefaults, pod_validation.h), and what
// templates leave open: requests from limits, service links, a grace period that is not negative.
// Idempotent.
void SetPodDefaults(core::v1::Pod& pod);

}  // namespace cox::apiserver
