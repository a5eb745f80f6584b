// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins.h"

#include <algorithm>

#include "apiserver/admission/pod_security/options.h"
#include "apiserver/admission/resource_quota/resource_quota.h"
#include "base/check.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct PluginInfo {
  std::string_view name;
  // Null: its name is known, and may be given, but it is not built yet.
  std::unique_ptr<const AdmissionPlugin> (*make)(const AdmissionParts&);
  bool on_by_default;
  // Whether its configuration makes sense. Null: it takes none.
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

// Every plugin, in the order they act. First the namespace: nothing else matters where there is
// none. Quota last: what it counts must not be changed or refused any more.
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
