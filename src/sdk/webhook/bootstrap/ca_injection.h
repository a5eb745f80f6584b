// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "coxswain/client.h"
#include "coxswain/webhook.h"

namespace cox::sdk {

// The objects that contain the CA: existing configurations and custom resource definitions by name,
// and configurations that this server creates.
struct CaTargets {
  std::vector<std::string> mutating;
  std::vector<std::string> validating;
  std::vector<std::string> crds;
  List<admissionregistration::v1::MutatingWebhookConfiguration> own_mutating;
  List<admissionregistration::v1::ValidatingWebhookConfiguration> own_validating;

  // All target objects, to be watched.
  std::vector<std::pair<Resource, ObjectKey>> Objects() const;
};

// Writes the bundle to all targets that do not contain it. Skips objects that do not exist.
// Continues after an error; returns the first error.
Status InjectCa(Context& ctx, Client& client, const CaTargets& targets, const std::string& bundle);

}  // namespace cox::sdk
