// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

std::vector<StrategyPtr> BuiltinKinds() {
  std::vector<StrategyPtr> kinds;
  AddCoreKinds(&kinds);
  AddAppsKinds(&kinds);
  AddBatchKinds(&kinds);
  AddAutoscalingKinds(&kinds);
  AddPolicyKinds(&kinds);
  AddNetworkingKinds(&kinds);
  AddDiscoveryKinds(&kinds);
  AddStorageKinds(&kinds);
  AddRbacKinds(&kinds);
  AddCoordinationKinds(&kinds);
  AddSchedulingKinds(&kinds);
  AddNodeKinds(&kinds);
  AddCertificatesKinds(&kinds);
  AddFlowcontrolKinds(&kinds);
  AddResourceKinds(&kinds);
  AddAdmissionregistrationKinds(&kinds);
  AddApiregistrationKinds(&kinds);
  AddApiextensionsKinds(&kinds);
  return kinds;
}

}  // namespace cox::apiserver
