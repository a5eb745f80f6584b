// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/policy/strategies.h"

#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddPolicyKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewPodDisruptionBudgetStrategy());
}

}  // namespace cox::apiserver
