// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/authz/authorizer.h"

namespace cox::apiserver {

// What plugins look at besides the request. Both outlive them.
struct AdmissionParts {
  const Registry& registry;
  const Authorizer& authorizer;
};

// BadRequest if one is no plugin's name.
Status CheckPluginNames(const std::vector<std::string>& names);
// The plugins that are on by default, and those named in `enabled`, without those named in
// `disabled`, in the order they act. The table is in plugins.cc.
AdmissionChain MakeAdmission(const AdmissionParts& parts,
                             const std::vector<std::string>& enabled = {},
                             const std::vector<std::string>& disabled = {});

// The plugins.
std::unique_ptr<const AdmissionPlugin> NewNamespaceLifecycle(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPriority(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewRuntimeClass(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeDeclaredFeatureValidator(const AdmissionParts& parts);

}  // namespace cox::apiserver
