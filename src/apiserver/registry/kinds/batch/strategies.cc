// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/batch/strategies.h"

#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddBatchKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewJobStrategy());
  kinds->push_back(NewCronJobStrategy());
}

}  // namespace cox::apiserver
