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

// The number of template changes of a DaemonSet. It was a field in older API versions; in apps/v1
// it is this annotation, which only the server sets.
inline constexpr std::string_view kDaemonSetTemplateGeneration =
    "deprecated.daemonset.template.generation";

}  // namespace cox::apiserver
