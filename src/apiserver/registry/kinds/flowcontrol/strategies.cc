// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddFlowcontrolKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewFlowSchemaStrategy());
  kinds->push_back(NewPriorityLevelConfigurationStrategy());
}

}  // namespace cox::apiserver
