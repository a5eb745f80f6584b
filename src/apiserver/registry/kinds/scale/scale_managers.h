// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/apply/managers.h"

// Field managers of spec.replicas. The managers of a workload own fields of the workload, those of
// its Scale own fields of the Scale. These functions convert between the two.
//
// Pure functions. `version` is the workload's: "apps/v1".
namespace cox::apiserver {

// The managers that own the replicas, as managers of the Scale.
apply::Managers ToScaleManagers(const apply::Managers& workload, std::string_view version);

// The managers of the workload after those of its Scale became `scale`: managers that no longer own
// the replicas of the Scale lose them, new ones own them with the subresource scale.
apply::Managers FromScaleManagers(const apply::Managers& workload, const apply::Managers& scale,
                                  std::string_view version);

}  // namespace cox::apiserver
