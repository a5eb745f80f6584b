// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/admission_config.h"
#include "apiserver/admission/admission_metrics.h"
#include "apiserver/authz/authorizer.h"
#include "apiserver/webhook/webhook_client.h"

namespace cox::apiserver {

// What plugins look at besides the request. All that it refers to outlives them.
struct AdmissionParts {
  const Registry& registry;
  const Authorizer& authorizer;
  // How webhooks are called; null: they are not, which only tests may want.
  std::shared_ptr<WebhookConnections> webhooks = nullptr;
  AdmissionMetrics* metrics = nullptr;  // null: nobody counts
  // REQUIRES: CheckPluginConfigs(configs).ok()
  PluginConfigs configs = {};

  // Null if there is none.
  const Value* ConfigOf(std::string_view plugin) const {
    const auto found = configs.find(plugin);
    return found == configs.end() ? nullptr : &found->second;
  }
};

// BadRequest if one is no plugin's name.
Status CheckPluginNames(const std::vector<std::string>& names);
// BadRequest if one is the configuration of no plugin, of one that takes none, or makes no sense to
// its plugin.
Status CheckPluginConfigs(const PluginConfigs& configs);
// The plugins that are on by default, and those named in `enabled`, without those named in
// `disabled`, in the order they act. The table is in plugins.cc.
AdmissionChain MakeAdmission(const AdmissionParts& parts,
                             const std::vector<std::string>& enabled = {},
                             const std::vector<std::string>& disabled = {});

// The plugins. A factory that cannot work with the parts it gets gives null.
std::unique_ptr<const AdmissionPlugin> NewNamespaceLifecycle(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewLimitRanger(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewServiceAccount(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPodSecurity(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewTaintNodesByCondition(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPriority(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewStorageObjectInUseProtection(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewRuntimeClass(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewNodeDeclaredFeatureValidator(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewMutatingAdmissionWebhook(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewValidatingAdmissionWebhook(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewAlwaysPullImages(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewExtendedResourceToleration(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPodNodeSelector(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPodTolerationRestriction(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewEventRateLimit(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDefaultStorageClass(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDefaultIngressClass(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPersistentVolumeClaimResize(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewOwnerReferencesPermissionEnforcement(
    const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewCertificateApproval(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewCertificateSigning(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewCertificateSubjectRestriction(
    const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewClusterTrustBundleAttest(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewDenyServiceExternalIPs(const AdmissionParts& parts);
std::unique_ptr<const AdmissionPlugin> NewPodTopologyLabels(const AdmissionParts& parts);

// Of those that take a configuration: whether one makes sense.
Status CheckPodNodeSelectorConfig(const Value& config);
Status CheckPodTolerationRestrictionConfig(const Value& config);
Status CheckEventRateLimitConfig(const Value& config);

}  // namespace cox::apiserver
