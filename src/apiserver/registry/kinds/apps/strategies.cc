// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apps/strategies.h"

#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddAppsKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewDeploymentStrategy());
  kinds->push_back(NewReplicaSetStrategy());
  kinds->push_back(NewStatefulSetStrategy());
  kinds->push_back(NewDaemonSetStrategy());
  kinds->push_back(NewControllerRevisionStrategy());
}

}  // namespace cox::apiserver
