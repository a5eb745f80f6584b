// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/kinds/resource/strategy.h"

namespace cox::apiserver {

void AddResourceKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewDeviceClassStrategy());
  kinds->push_back(NewResourceClaimStrategy());
  kinds->push_back(NewResourceClaimTemplateStrategy());
  kinds->push_back(NewResourceSliceStrategy());
}

}  // namespace cox::apiserver
