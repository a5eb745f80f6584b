// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"
#include "object/type/map.h"

// The kinds of storage.k8s.io/v1; strategies.cc lists them.
namespace cox::apiserver {

StrategyPtr NewStorageClassStrategy();
StrategyPtr NewVolumeAttributesClassStrategy();
StrategyPtr NewCsiDriverStrategy();
StrategyPtr NewCsiNodeStrategy();
StrategyPtr NewCsiStorageCapacityStrategy();
StrategyPtr NewVolumeAttachmentStrategy();

// Validates the parameters for a driver: their number, their total size, no empty keys.
FieldErrorList ValidateClassParameters(const Map<std::string>& parameters, bool allow_empty,
                                       const FieldPath& path);

}  // namespace cox::apiserver
