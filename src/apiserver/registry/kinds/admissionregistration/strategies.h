// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/registry/store/strategy.h"

// The kinds of admissionregistration.k8s.io.
namespace cox::apiserver {

StrategyPtr NewValidatingWebhookConfigurationStrategy();
StrategyPtr NewMutatingWebhookConfigurationStrategy();
StrategyPtr NewValidatingAdmissionPolicyStrategy();
StrategyPtr NewValidatingAdmissionPolicyBindingStrategy();
StrategyPtr NewMutatingAdmissionPolicyStrategy();
StrategyPtr NewMutatingAdmissionPolicyBindingStrategy();

}  // namespace cox::apiserver
