// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// Removes fields of features that are not on by default at this API level: stop signals, trust
// bundles and certificates in projected volumes, scheduling groups. `old` is the stored spec (null
// for a new object): fields that it uses are kept, so that disabling a feature does not break
// existing objects.
void DropDisabledPodFields(core::v1::PodSpec& spec, const core::v1::PodSpec* old);

}  // namespace cox::apiserver
