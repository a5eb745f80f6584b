// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/admissionregistration/strategies.h"

#include "apiserver/registry/kinds/kinds.h"

namespace cox::apiserver {

void AddAdmissionregistrationKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(NewMutatingAdmissionPolicyStrategy());
  kinds->push_back(NewMutatingAdmissionPolicyBindingStrategy());
  kinds->push_back(NewMutatingWebhookConfigurationStrategy());
  kinds->push_back(NewValidatingAdmissionPolicyStrategy());
  kinds->push_back(NewValidatingAdmissionPolicyBindingStrategy());
  kinds->push_back(NewValidatingWebhookConfigurationStrategy());
}

}  // namespace cox::apiserver
