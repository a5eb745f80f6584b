// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/internal_controller.h"

namespace cox::apiserver {

// Sets the condition Available of APIServices with a Service, by whether that Service exists.
// APIServices that this server itself serves are available from their creation on.
InternalController ApiServiceStatusLoop(const Registry& registry,
                                        const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
