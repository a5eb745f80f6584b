// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/core/v1.h"
#include "scheduler/framework/framework.h"

namespace cox::scheduler {

// Returns the first NoSchedule or NoExecute taint that is not tolerated; null: none.
const core::v1::Taint* FirstUntolerated(const List<core::v1::Toleration>& tolerations,
                                        const List<core::v1::Taint>& taints);
// Returns the number of PreferNoSchedule taints that are not tolerated.
int64_t CountUntoleratedPreferences(const List<core::v1::Toleration>& tolerations,
                                    const List<core::v1::Taint>& taints);

void SignTolerations(const core::v1::Pod& pod, Signature& signature);

}  // namespace cox::scheduler
