// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/v1.h"

// Which taints of nodes a Pod puts up with. Pure functions.
namespace cox::core_rules {

// An empty effect is every effect; an empty key with Exists every taint. No operator is Equal.
bool Tolerates(const core::v1::Toleration& toleration, const core::v1::Taint& taint);

// The first that tolerates the taint; null: none does.
const core::v1::Toleration* FindToleration(const List<core::v1::Toleration>& tolerations,
                                           const core::v1::Taint& taint);

}  // namespace cox::core_rules
