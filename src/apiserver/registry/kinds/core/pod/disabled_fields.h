// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::apiserver {

// Removes fields of features that are not on by default at this API level: stop signals, trust
// bundles and certificates in projected volumes, scheduling groups. `old` is what is stored (null
// for a new object): a field that is in use there stays, so that nobody's object is broken by a
// feature being turned off.
void DropDisabledPodFields(core::v1::PodSpec& spec, const core::v1::PodSpec* old);

}  // namespace cox::apiserver
