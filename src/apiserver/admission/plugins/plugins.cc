// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/plugins.h"

#include <algorithm>

#include "apiserver/admission/plugins/always_pull_images/always_pull_images.h"
#include "apiserver/admission/plugins/certificate_approval/certificate_approval.h"
#include "apiserver/admission/plugins/certificate_signing/certificate_signing.h"
#include "apiserver/admission/plugins/certificate_subject_restriction/certificate_subject_restriction.h"
#include "apiserver/admission/plugins/cluster_trust_bundle_attest/cluster_trust_bundle_attest.h"
#include "apiserver/admission/plugins/default_ingress_class/default_ingress_class.h"
#include "apiserver/admission/plugins/default_storage_class/default_storage_class.h"
#include "apiserver/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"
#include "apiserver/admission/plugins/deny_service_external_ips/deny_service_external_ips.h"
#include "apiserver/admission/plugins/event_rate_limit/event_rate_limit.h"
#include "apiserver/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"
#include "apiserver/admission/plugins/limit_ranger/limit_ranger.h"
#include "apiserver/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"
#include "apiserver/admission/plugins/node_declared_feature_validator/node_declared_feature_validator.h"
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"
#include "apiserver/admission/plugins/owner_references_permission_enforcement/owner_references_permission_enforcement.h"
#include "apiserver/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"
#include "apiserver/admission/plugins/pod_node_selector/pod_node_selector.h"
#include "apiserver/admission/plugins/pod_security/options.h"
#include "apiserver/admission/plugins/pod_security/pod_security.h"
#include "apiserver/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"
#include "apiserver/admission/plugins/pod_topology_labels/pod_topology_labels.h"
#include "apiserver/admission/plugins/priority/priority.h"
#include "apiserver/admission/plugins/resource_quota/resource_quota.h"
#include "apiserver/admission/plugins/runtime_class/runtime_class.h"
#include "apiserver/admission/plugins/service_account/service_account.h"
#include "apiserver/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"
#include "apiserver/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"
#include "apiserver/admission/webhook/mutating.h"
#include "apiserver/admission/webhook/validating.h"
#include "base/check.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct PluginInfo {
  std::string_view name;
  // Null: flags may name the plugin, but it is not implemented yet.
  std::unique_ptr<const AdmissionPlugin> (*make)(const AdmissionParts&);
  bool on_by_default;
  // Checks its configuration. Null: it takes none.
  Status (*check)(const Value& config) = nullptr;
};

std::unique_ptr<const AdmissionPlugin> MakeResourceQuota(const AdmissionParts& parts) {
  Result<quota::LimitedResources> limited = ReadLimitedResources(parts.ConfigOf("ResourceQuota"));
  COX_CHECK(limited.ok());
  return NewResourceQuota(parts.registry, std::move(*limited));
}
Status CheckResourceQuotaConfig(const Value& config) {
  return ReadLimitedResources(&config).status();
}

Status CheckPodSecurityConfig(const Value& config) {
  return pod_security::ReadOptions(config).status();
}

// All plugins in the order in which they are called. NamespaceLifecycle is first, because nothing
// else matters if the namespace does not exist. ResourceQuota is last, because what it counts must
// not be changed or rejected afterwards.
constexpr PluginInfo kPlugins[] = {
    {"NamespaceLifecycle", NewNamespaceLifecycle, true},
    {"LimitRanger", NewLimitRanger, true},
    {"ServiceAccount", NewServiceAccount, true},
    {"NodeRestriction", NewNodeRestriction, false},
    {"TaintNodesByCondition", NewTaintNodesByCondition, true},
    {"AlwaysPullImages", NewAlwaysPullImages, false},
    {"PodSecurity", NewPodSecurity, true, CheckPodSecurityConfig},
    {"PodNodeSelector", NewPodNodeSelector, false, CheckPodNodeSelectorConfig},
    {"Priority", NewPriority, true},
    {"DefaultTolerationSeconds", NewDefaultTolerationSeconds, true},
    {"PodTolerationRestriction", NewPodTolerationRestriction, false,
     CheckPodTolerationRestrictionConfig},
    {"EventRateLimit", NewEventRateLimit, false, CheckEventRateLimitConfig},
    {"ExtendedResourceToleration", NewExtendedResourceToleration, false},
    {"DefaultStorageClass", NewDefaultStorageClass, true},
    {"StorageObjectInUseProtection", NewStorageObjectInUseProtection, true},
    {"OwnerReferencesPermissionEnforcement", NewOwnerReferencesPermissionEnforcement, false},
    {"PersistentVolumeClaimResize", NewPersistentVolumeClaimResize, true},
    {"RuntimeClass", NewRuntimeClass, true},
    {"CertificateApproval", NewCertificateApproval, true},
    {"CertificateSigning", NewCertificateSigning, true},
    {"ClusterTrustBundleAttest", NewClusterTrustBundleAttest, true},
    {"CertificateSubjectRestriction", NewCertificateSubjectRestriction, true},
    {"DefaultIngressClass", NewDefaultIngressClass, true},
    {"DenyServiceExternalIPs", NewDenyServiceExternalIPs, false},
    {"PodTopologyLabels", NewPodTopologyLabels, true},
    {"NodeDeclaredFeatureValidator", NewNodeDeclaredFeatureValidator, true},
    {"MutatingAdmissionPolicy", nullptr, true},
    {"MutatingAdmissionWebhook", NewMutatingAdmissionWebhook, true},
    {"ValidatingAdmissionPolicy", nullptr, true},
    {"ValidatingAdmissionWebhook", NewValidatingAdmissionWebhook, true},
    {"ResourceQuota", MakeResourceQuota, true, CheckResourceQuotaConfig},
};

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status CheckPluginNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool known = std::any_of(std::begin(kPlugins), std::end(kPlugins),
                                   [&](const PluginInfo& p) { return p.name == name; });
    if (!known) return Status::BadRequest("admission plugin " + Quote(name) + " is unknown");
  }
  return {};
}

Status CheckPluginConfigs(const PluginConfigs& configs) {
  for (const auto& [name, config] : configs) {
    COX_RETURN_IF_ERROR(CheckPluginNames({name}));
    const PluginInfo* plugin = std::find_if(std::begin(kPlugins), std::end(kPlugins),
                                            [&](const PluginInfo& p) { return p.name == name; });
    if (plugin->check == nullptr) {
      return Status::BadRequest("admission plugin " + Quote(name) + " takes no configuration");
    }
    COX_RETURN_IF_ERROR(plugin->check(config).WithContext("configuration of " + name));
  }
  return {};
}

AdmissionChain MakeAdmission(const AdmissionParts& parts, const std::vector<std::string>& enabled,
                             const std::vector<std::string>& disabled) {
  std::vector<std::unique_ptr<const AdmissionPlugin>> plugins;
  for (const PluginInfo& plugin : kPlugins) {
    const bool on = plugin.on_by_default || Has(enabled, plugin.name);
    if (!on || plugin.make == nullptr || Has(disabled, plugin.name)) continue;
    if (auto made = plugin.make(parts)) plugins.push_back(std::move(made));
  }
  return AdmissionChain(std::move(plugins), parts.metrics);
}

}  // namespace cox::apiserver
