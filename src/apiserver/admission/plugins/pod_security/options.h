// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/pod_security/policy.h"
#include "object/type/value.h"

namespace cox::apiserver::pod_security {

// Exemptions, and the defaults for namespaces without labels.
struct Options {
  Policy defaults;
  std::vector<std::string> exempt_users;
  std::vector<std::string> exempt_namespaces;
  std::vector<std::string> exempt_runtime_classes;
};

// Parses a PodSecurityConfiguration, the configuration of this plugin. Errors: BadRequest with all
// errors. Security: an invalid default must not result in a cluster without enforcement.
Result<Options> ReadOptions(const Value& configuration);

// Creates the plugin with the given options.
std::unique_ptr<const AdmissionPlugin> NewPlugin(const Registry& registry, Options options);

}  // namespace cox::apiserver::pod_security
