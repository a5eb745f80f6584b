// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/definition.h"
#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddApiextensionsKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewCustomResourceDefinitionStrategy());
}

}  // namespace cox::apiserver
