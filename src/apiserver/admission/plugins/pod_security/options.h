// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/pod_security/policy.h"
#include "object/type/value.h"

namespace cox::apiserver::pod_security {

// Who is spared, and what holds in namespaces that say nothing.
struct Options {
  Policy defaults;
  std::vector<std::string> exempt_users;
  std::vector<std::string> exempt_namespaces;
  std::vector<std::string> exempt_runtime_classes;
};

// Reads a PodSecurityConfiguration: the part of the administrator's AdmissionConfiguration that is
// about this plugin. BadRequest with all that is wrong with it; a default that cannot be understood
// must not leave a cluster open.
Result<Options> ReadOptions(const Value& configuration);

// The plugin with options of its own.
std::unique_ptr<const AdmissionPlugin> NewPlugin(const Registry& registry, Options options);

}  // namespace cox::apiserver::pod_security
