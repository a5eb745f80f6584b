// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/internal_controller.h"

namespace cox::apiserver {

// Maintains the status of CustomResourceDefinitions: the accepted names (conditions NamesAccepted
// and Established, status.acceptedNames). Removes the finalizer of definitions that are being
// deleted.
InternalController DefinitionStatusLoop(const Registry& registry,
                                        const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
