// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/v1.h"

// Tolerations of node taints. Pure functions.
namespace cox::core_rules {

// An empty effect matches every effect; an empty key with Exists matches every taint. The default
// operator is Equal.
bool Tolerates(const core::v1::Toleration& toleration, const core::v1::Taint& taint);

// The first toleration that tolerates the taint, or null.
const core::v1::Toleration* FindToleration(const List<core::v1::Toleration>& tolerations,
                                           const core::v1::Taint& taint);

}  // namespace cox::core_rules
