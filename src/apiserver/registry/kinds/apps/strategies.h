// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of apps/v1.
namespace cox::apiserver {

StrategyPtr NewDeploymentStrategy();
StrategyPtr NewReplicaSetStrategy();
StrategyPtr NewStatefulSetStrategy();
StrategyPtr NewDaemonSetStrategy();
StrategyPtr NewControllerRevisionStrategy();

// A DaemonSet's count of template changes. The API had it as a field once; apps/v1 shows it as this
// annotation, which only the server sets.
inline constexpr std::string_view kDaemonSetTemplateGeneration =
    "deprecated.daemonset.template.generation";

}  // namespace cox::apiserver
