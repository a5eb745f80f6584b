// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apiserver/registry/served/own_loop.h"

namespace cox::apiserver {

// All control loops of the API server itself. `admission` is asked about their writes.
std::vector<OwnLoop> OwnLoops(const Registry& registry, const AdmissionChain* admission);

}  // namespace cox::apiserver
