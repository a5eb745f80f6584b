// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"

namespace cox::apiserver {

// The plugins that are on by default, in the order they act, without those named in `disabled`.
// The table is in plugins.cc.
AdmissionChain DefaultAdmission(const Registry& registry, const std::vector<std::string>& disabled);

// The plugins.
std::unique_ptr<const AdmissionPlugin> NewNamespaceLifecycle(const Registry& registry);
std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition();
std::unique_ptr<const AdmissionPlugin> NewPriority(const Registry& registry);
std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds();
std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection();
std::unique_ptr<const AdmissionPlugin> NewRuntimeClass(const Registry& registry);
std::unique_ptr<const AdmissionPlugin> NewNodeDeclaredFeatureValidator(const Registry& registry);

}  // namespace cox::apiserver
