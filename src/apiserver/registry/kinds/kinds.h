// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apiserver/registry/store/strategy.h"

namespace cox::apiserver {

// Every built-in kind that is stored, one strategy each. The list is in kinds.cc, a line per group;
// each group's folder has a strategies.cc that lists its kinds.
std::vector<StrategyPtr> BuiltinKinds();

// One function for each API group.
void AddCoreKinds(std::vector<StrategyPtr>* kinds);
void AddAppsKinds(std::vector<StrategyPtr>* kinds);
void AddBatchKinds(std::vector<StrategyPtr>* kinds);
void AddNetworkingKinds(std::vector<StrategyPtr>* kinds);
void AddDiscoveryKinds(std::vector<StrategyPtr>* kinds);
void AddStorageKinds(std::vector<StrategyPtr>* kinds);
void AddRbacKinds(std::vector<StrategyPtr>* kinds);
void AddPolicyKinds(std::vector<StrategyPtr>* kinds);
void AddAutoscalingKinds(std::vector<StrategyPtr>* kinds);
void AddSchedulingKinds(std::vector<StrategyPtr>* kinds);
void AddAdmissionregistrationKinds(std::vector<StrategyPtr>* kinds);
void AddApiextensionsKinds(std::vector<StrategyPtr>* kinds);
void AddApiregistrationKinds(std::vector<StrategyPtr>* kinds);
void AddCertificatesKinds(std::vector<StrategyPtr>* kinds);
void AddCoordinationKinds(std::vector<StrategyPtr>* kinds);
void AddFlowcontrolKinds(std::vector<StrategyPtr>* kinds);
void AddResourceKinds(std::vector<StrategyPtr>* kinds);
void AddNodeKinds(std::vector<StrategyPtr>* kinds);

}  // namespace cox::apiserver
