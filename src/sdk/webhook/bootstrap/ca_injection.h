// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "coxswain/client.h"
#include "coxswain/webhook.h"

namespace cox::sdk {

// Where the CA has to be: configurations and custom resource definitions that others made, by name,
// and configurations that are ours to make.
struct CaTargets {
  std::vector<std::string> mutating;
  std::vector<std::string> validating;
  std::vector<std::string> crds;
  List<admissionregistration::v1::MutatingWebhookConfiguration> own_mutating;
  List<admissionregistration::v1::ValidatingWebhookConfiguration> own_validating;

  // All of them, to be watched.
  std::vector<std::pair<Resource, ObjectKey>> Objects() const;
};

// Puts the bundle where it is not yet. Objects that are not there (yet) are passed over. Goes on
// after an error; returns the first.
Status InjectCa(Context& ctx, Client& client, const CaTargets& targets, const std::string& bundle);

}  // namespace cox::sdk
