// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/kinds/storage/kinds.h"

namespace cox::apiserver {

void AddStorageKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewStorageClassStrategy());
  kinds->push_back(NewVolumeAttributesClassStrategy());
  kinds->push_back(NewCsiDriverStrategy());
  kinds->push_back(NewCsiNodeStrategy());
  kinds->push_back(NewCsiStorageCapacityStrategy());
  kinds->push_back(NewVolumeAttachmentStrategy());
}

}  // namespace cox::apiserver
