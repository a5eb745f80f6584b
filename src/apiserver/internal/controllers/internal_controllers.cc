// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/internal_controllers.h"

#include "apiserver/internal/controllers/api_service_status.h"
#include "apiserver/internal/controllers/definition_status.h"
#include "apiserver/internal/controllers/flow_schema_status.h"

namespace cox::apiserver {

std::vector<InternalController> InternalControllers(const Registry& registry,
                                                    const AdmissionChain* admission) {
  return {
      ApiServiceStatusLoop(registry, admission),
      DefinitionStatusLoop(registry, admission),
      FlowSchemaStatusLoop(registry, admission),
  };
}

}  // namespace cox::apiserver
