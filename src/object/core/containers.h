// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::core_rules {

// Of an entry of spec.initContainers: whether it is started in its turn and then goes on beside the
// others (restartPolicy Always).
bool IsSidecar(const core::v1::Container& init);

// An ephemeral container in the form of the others, without its target.
core::v1::Container AsContainer(const core::v1::EphemeralContainer& ephemeral);

}  // namespace cox::core_rules
