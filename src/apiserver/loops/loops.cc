// SPDX-License-Identifier: Apache-2.0
#include "apiserver/loops/loops.h"

#include "apiserver/loops/api_service_status.h"
#include "apiserver/loops/definition_status.h"
#include "apiserver/loops/flow_schema_status.h"

namespace cox::apiserver {

std::vector<OwnLoop> OwnLoops(const Registry& registry) {
  return {
      ApiServiceStatusLoop(registry),
      DefinitionStatusLoop(registry),
      FlowSchemaStatusLoop(registry),
  };
}

}  // namespace cox::apiserver
