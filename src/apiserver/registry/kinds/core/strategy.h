// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of the core group that have no folder of their own. strategies.cc lists all kinds of
// the group.
namespace cox::apiserver {

StrategyPtr NewConfigMapStrategy();
StrategyPtr NewEventStrategy();  // also served as events.k8s.io/v1
StrategyPtr NewLimitRangeStrategy();
StrategyPtr NewNamespaceStrategy();
StrategyPtr NewNodeStrategy();
StrategyPtr NewResourceQuotaStrategy();
StrategyPtr NewSecretStrategy();
StrategyPtr NewServiceAccountStrategy();

// The maximum total size of the data of a Secret or ConfigMap, in bytes.
inline constexpr size_t kMaxDataBytes = 1024 * 1024;

}  // namespace cox::apiserver
