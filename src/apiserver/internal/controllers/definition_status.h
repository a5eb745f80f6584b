// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/own_loop.h"

namespace cox::apiserver {

// Keeps the status of CustomResourceDefinitions: which of the names a definition asks for are its
// own (conditions NamesAccepted and Established, status.acceptedNames), and lets go of definitions
// that are being deleted.
OwnLoop DefinitionStatusLoop(const Registry& registry, const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
