// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apiserver/loops/own_loop.h"

namespace cox::apiserver {

// All control loops of the API server itself.
std::vector<OwnLoop> OwnLoops(const Registry& registry);

}  // namespace cox::apiserver
