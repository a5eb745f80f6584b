// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"

namespace cox::core_rules {

// Whether a container of spec.initContainers is a sidecar (restartPolicy Always): it is started in
// order and keeps running.
bool IsSidecar(const core::v1::Container& init);

// Converts an ephemeral container to a Container, without its target.
core::v1::Container AsContainer(const core::v1::EphemeralContainer& ephemeral);

}  // namespace cox::core_rules
