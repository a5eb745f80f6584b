// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/served/own_loop.h"

namespace cox::apiserver {

// Says on every FlowSchema whether the priority level it names is there: condition Dangling.
OwnLoop FlowSchemaStatusLoop(const Registry& registry, const AdmissionChain* admission = nullptr);

}  // namespace cox::apiserver
