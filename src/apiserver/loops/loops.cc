// SPDX-License-Identifier: Apache-2.0
#include "apiserver/loops/loops.h"

#include "apiserver/loops/flow_schema_status.h"

namespace cox::apiserver {

std::vector<OwnLoop> OwnLoops(const Registry& registry) { return {FlowSchemaStatusLoop(registry)}; }

}  // namespace cox::apiserver
