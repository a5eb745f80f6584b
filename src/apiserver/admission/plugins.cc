// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct PluginInfo {
  std::string_view name;
  // Null: its name is known, and may be given, but it is not built yet.
  std::unique_ptr<const AdmissionPlugin> (*make)(const AdmissionParts&);
  bool on_by_default;
};

// Every plugin, in the order they act. First the namespace: nothing else matters where there is
// none. Quota last: what it counts must not be changed or refused any more.
constexpr PluginInfo kPlugins[] = {
    {"NamespaceLifecycle", NewNamespaceLifecycle, true},
    {"LimitRanger", nullptr, true},
    {"ServiceAccount", nullptr, true},
    {"NodeRestriction", NewNodeRestriction, false},
    {"TaintNodesByCondition", NewTaintNodesByCondition, true},
    {"AlwaysPullImages", nullptr, false},
    {"PodSecurity", nullptr, true},
    {"PodNodeSelector", nullptr, false},
    {"Priority", NewPriority, true},
    {"DefaultTolerationSeconds", NewDefaultTolerationSeconds, true},
    {"PodTolerationRestriction", nullptr, false},
    {"EventRateLimit", nullptr, false},
    {"ExtendedResourceToleration", nullptr, false},
    {"DefaultStorageClass", nullptr, true},
    {"StorageObjectInUseProtection", NewStorageObjectInUseProtection, true},
    {"OwnerReferencesPermissionEnforcement", nullptr, false},
    {"PersistentVolumeClaimResize", nullptr, true},
    {"RuntimeClass", NewRuntimeClass, true},
    {"CertificateApproval", nullptr, true},
    {"CertificateSigning", nullptr, true},
    {"ClusterTrustBundleAttest", nullptr, true},
    {"CertificateSubjectRestriction", nullptr, true},
    {"DefaultIngressClass", nullptr, true},
    {"DenyServiceExternalIPs", nullptr, false},
    {"PodTopologyLabels", nullptr, true},
    {"NodeDeclaredFeatureValidator", NewNodeDeclaredFeatureValidator, true},
    {"MutatingAdmissionPolicy", nullptr, true},
    {"MutatingAdmissionWebhook", nullptr, true},
    {"ValidatingAdmissionPolicy", nullptr, true},
    {"ValidatingAdmissionWebhook", nullptr, true},
    {"ResourceQuota", nullptr, true},
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

AdmissionChain MakeAdmission(const AdmissionParts& parts, const std::vector<std::string>& enabled,
                             const std::vector<std::string>& disabled) {
  std::vector<std::unique_ptr<const AdmissionPlugin>> plugins;
  for (const PluginInfo& plugin : kPlugins) {
    const bool on = plugin.on_by_default || Has(enabled, plugin.name);
    if (on && plugin.make != nullptr && !Has(disabled, plugin.name))
      plugins.push_back(plugin.make(parts));
  }
  return AdmissionChain(std::move(plugins));
}

}  // namespace cox::apiserver
