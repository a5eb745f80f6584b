// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/own_loop.h"

namespace cox::apiserver {

// Says of APIServices that another server answers whether that server's Service is there: condition
// Available. Those this server answers itself are available from their creation on.
OwnLoop ApiServiceStatusLoop(const Registry& registry, const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
