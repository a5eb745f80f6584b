// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/kinds/rbac/strategy.h"

namespace cox::apiserver {

void AddRbacKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewRoleStrategy());
  kinds->push_back(NewClusterRoleStrategy());
  kinds->push_back(NewRoleBindingStrategy());
  kinds->push_back(NewClusterRoleBindingStrategy());
}

}  // namespace cox::apiserver
