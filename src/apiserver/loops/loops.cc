// SPDX-License-Identifier: Apache-2.0
#include "apiserver/loops/loops.h"

#include "apiserver/loops/api_service_status.h"
#include "apiserver/loops/definition_status.h"
#include "apiserver/loops/flow_schema_status.h"

namespace cox::apiserver {

std::vector<OwnLoop> OwnLoops(const Registry& registry, const AdmissionChain* admission) {
  return {
      ApiServiceStatusLoop(registry, admission),
      DefinitionStatusLoop(registry, admission),
      FlowSchemaStatusLoop(registry, admission),
  };
}

}  // namespace cox::apiserver
