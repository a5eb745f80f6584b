// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/kinds/networking/kinds.h"

namespace cox::apiserver {

void AddNetworkingKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewIngressStrategy());
  kinds->push_back(NewIngressClassStrategy());
  kinds->push_back(NewNetworkPolicyStrategy());
  kinds->push_back(NewIpAddressStrategy());
  kinds->push_back(NewServiceCidrStrategy());
}

}  // namespace cox::apiserver
