// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/internal_controller.h"

namespace cox::apiserver {

// Sets the condition Dangling of FlowSchemas, by whether their priority level exists.
InternalController FlowSchemaStatusLoop(const Registry& registry,
                                        const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
