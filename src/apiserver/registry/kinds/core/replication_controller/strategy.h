// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// ReplicationController: the predecessor of ReplicaSet, with a plain map of labels as its selector.
StrategyPtr NewReplicationControllerStrategy();

}  // namespace cox::apiserver
