// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/apply/managers.h"

// Who owns the number of replicas. A workload's owners speak of the workload's fields, those of its
// Scale of the Scale's: what is written through one is seen through the other.
//
// Pure functions. `version` is the workload's: "apps/v1".
namespace cox::apiserver {

// The owners of the number, as owners of the Scale.
apply::Managers ToScaleManagers(const apply::Managers& workload, std::string_view version);

// The owners of the workload after those of its Scale became `scale`: who no longer owns the number
// there does not here, who does now owns it here, through /scale.
apply::Managers FromScaleManagers(const apply::Managers& workload, const apply::Managers& scale,
                                  std::string_view version);

}  // namespace cox::apiserver
