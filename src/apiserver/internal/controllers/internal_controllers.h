// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apiserver/registry/served/internal_controller.h"

namespace cox::apiserver {

// All controllers that run in the API server. `admission` applies to their writes.
std::vector<InternalController> InternalControllers(const Registry& registry,
                                                    const AdmissionChain* admission);

}  // namespace cox::apiserver
