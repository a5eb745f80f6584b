// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/admission_metrics.h"
#include "apiserver/authz/authorizer.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// What plugins look at besides the request. All outlive them.
struct AdmissionParts {
  const Registry& registry;
  const Authorizer& authorizer;
  // How webhooks are called; null: they are not, which only tests may want.
  std::shared_ptr<WebhookConnections> webhooks = nullptr;
  AdmissionMetrics* metrics = nullptr;  // null: nobody counts
};

// BadRequest if one is no plugin's name.
Status CheckPluginNames(const std::vector<std::string>& names);
// The plugins that are on by default, and those named in `enabled`, without those named in
// `disabled`, in the order they act. The table is in plugins.cc.
AdmissionChain MakeAdmission(const AdmissionParts& parts,
                             const std::vector<std::string>& enabled = {},
                             const std::vector<std::string>& disabled = {});

// The plugins. A factory that cannot work with the parts it gets gives null.
std::unique_ptr<const AdmissionPlugin> NewNamespaceLifecycle(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPriority(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewRuntimeClass(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeDeclaredFeatureValidator(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewMutatingAdmissionWebhook(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewValidatingAdmissionWebhook(const AdmissionParts& parts);

}  // namespace cox::apiserver
