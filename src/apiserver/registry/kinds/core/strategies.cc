// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/strategy.h"
#include "apiserver/registry/kinds/core/replication_controller/strategy.h"
#include "apiserver/registry/kinds/core/service/strategy.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/kinds/core/volume/strategy.h"
#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddCoreKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewNamespaceStrategy());
  kinds->push_back(NewNodeStrategy());
  kinds->push_back(NewConfigMapStrategy());
  kinds->push_back(NewSecretStrategy());
  kinds->push_back(NewServiceAccountStrategy());
  kinds->push_back(NewLimitRangeStrategy());
  kinds->push_back(NewResourceQuotaStrategy());
  kinds->push_back(NewEventStrategy());
  kinds->push_back(NewPodStrategy());
  kinds->push_back(NewPodTemplateStrategy());
  kinds->push_back(NewReplicationControllerStrategy());
  kinds->push_back(NewServiceStrategy());
  kinds->push_back(NewEndpointsStrategy());
  kinds->push_back(NewPersistentVolumeStrategy());
  kinds->push_back(NewPersistentVolumeClaimStrategy());
}

}  // namespace cox::apiserver
