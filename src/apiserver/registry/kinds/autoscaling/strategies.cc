// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/autoscaling/strategies.h"

#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddAutoscalingKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewHorizontalPodAutoscalerStrategy());
}

}  // namespace cox::apiserver
