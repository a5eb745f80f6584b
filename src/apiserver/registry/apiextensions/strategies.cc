// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/apiextensions/definition.h"
#include "apiserver/registry/kinds.h"

namespace cox::apiserver {

void AddApiextensionsKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewCustomResourceDefinitionStrategy());
}

}  // namespace cox::apiserver
