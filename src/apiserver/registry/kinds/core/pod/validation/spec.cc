// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/label_selector_validation.h"

namespace cox::apiserver {
namespace pod {
namespace {

FieldErrorList CheckPolicies(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors =
      CheckEnum(spec.restartPolicy, path.Child("restartPolicy"), {"Always", "OnFailure", "Never"});
  Append(errors, CheckEnum(spec.dnsPolicy, path.Child("dnsPolicy"),
                           {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}));
  return errors;
}

// Fields that contain the name of another object.
FieldErrorList CheckReferences(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  auto check = [&](std::string_view name, std::string_view field) {
    if (!name.empty()) Append(errors, CheckDnsSubdomain(name, path.Child(field)));
  };
  check(spec.serviceAccountName, "serviceAccountName");
  check(spec.nodeName, "nodeName");
  return errors;
}

FieldErrorList CheckClasses(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (!spec.priorityClassName.empty())
    Append(errors, CheckDnsSubdomain(spec.priorityClassName, path.Child("priorityClassName")));
  if (spec.runtimeClassName)
    Append(errors, CheckDnsSubdomain(*spec.runtimeClassName, path.Child("runtimeClassName")));
  if (spec.preemptionPolicy) {
    Append(errors, CheckEnum(*spec.preemptionPolicy, path.Child("preemptionPolicy"),
                             {"Never", "PreemptLowerPriority"}));
  }
  if (!spec.overhead.empty()) {
    core::v1::ResourceRequirements overhead;
    overhead.limits = spec.overhead;
    Append(errors, ValidateResourceRequirements(overhead, nullptr, path.Child("overhead")));
  }
  return errors;
}

FieldErrorList CheckActiveDeadline(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (!spec.activeDeadlineSeconds) return errors;
  for (std::string& message :
       validation::IsInRange(*spec.activeDeadlineSeconds, 1, std::numeric_limits<int32_t>::max())) {
    errors.push_back(FieldError::Invalid(path.Child("activeDeadlineSeconds"),
                                         *spec.activeDeadlineSeconds, std::move(message)));
  }
  return errors;
}

FieldErrorList CheckReadinessGates(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < spec.readinessGates.size(); ++i) {
    Append(errors, CheckQualifiedName(spec.readinessGates[i].conditionType,
                                      path.Index(i).Child("conditionType")));
  }
  return errors;
}

FieldErrorList CheckAllContainers(const PodSpec& spec, const List<Volume>& volumes,
                                  const FieldPath& path, const PodValidationOptions& options) {
  std::vector<std::string> claims;
  for (const core::v1::PodResourceClaim& claim : spec.resourceClaims) claims.push_back(claim.name);
  const PodView view = {.volumes = volumes,
                        .claims = claims,
                        .grace_period = spec.terminationGracePeriodSeconds,
                        .restart_policy = spec.restartPolicy,
                        .host_users = spec.hostUsers.value_or(true),
                        .options = options};
  FieldErrorList errors = CheckContainers(spec, view, path.Child("containers"));
  Append(errors, CheckInitContainers(spec, view, path.Child("initContainers")));
  Append(errors, CheckEphemeralContainers(spec, view, path.Child("ephemeralContainers")));
  return errors;
}

// Whether a selector contains an invalid label value.
bool HasInvalidValue(const Box<meta::v1::LabelSelector>& selector) {
  if (!selector) return false;
  for (const auto& term : selector->matchExpressions) {
    for (const std::string& value : term.values)
      if (!validation::IsValidLabelValue(value).empty()) return true;
  }
  return false;
}

template <class PodTerms>
bool TermsHaveInvalidValue(const Box<PodTerms>& affinity) {
  if (!affinity) return false;
  auto bad = [](const core::v1::PodAffinityTerm& term) {
    return HasInvalidValue(term.labelSelector) || HasInvalidValue(term.namespaceSelector);
  };
  const auto& required = affinity->requiredDuringSchedulingIgnoredDuringExecution;
  const auto& preferred = affinity->preferredDuringSchedulingIgnoredDuringExecution;
  return std::any_of(required.begin(), required.end(), bad) ||
         std::any_of(preferred.begin(), preferred.end(),
                     [&](const auto& weighted) { return bad(weighted.podAffinityTerm); });
}

bool NodeTermsHaveInvalidValue(const Box<core::v1::NodeAffinity>& affinity) {
  if (!affinity || !affinity->requiredDuringSchedulingIgnoredDuringExecution) return false;
  for (const auto& term :
       affinity->requiredDuringSchedulingIgnoredDuringExecution->nodeSelectorTerms) {
    for (const auto& expression : term.matchExpressions) {
      for (const std::string& value : expression.values)
        if (!validation::IsValidLabelValue(value).empty()) return true;
    }
  }
  return false;
}

bool AffinityHasInvalidValue(const PodSpec& spec) {
  if (!spec.affinity) return false;
  return NodeTermsHaveInvalidValue(spec.affinity->nodeAffinity) ||
         TermsHaveInvalidValue(spec.affinity->podAffinity) ||
         TermsHaveInvalidValue(spec.affinity->podAntiAffinity);
}

bool HasNonLocalTokenPath(const PodSpec& spec) {
  for (const Volume& volume : spec.volumes) {
    if (!volume.volumeSource.projected) continue;
    for (const core::v1::VolumeProjection& source : volume.volumeSource.projected->sources) {
      if (source.serviceAccountToken &&
          !CheckLocalNonReservedPath(source.serviceAccountToken->path, FieldPath("path")).empty())
        return true;
    }
  }
  return false;
}

bool BreaksPageSize(const PodSpec& spec) {
  auto breaks = [](const Container& container) {
    FieldErrorList strict =
        ValidateResourceRequirements(container.resources, nullptr, FieldPath("resources"));
    FieldErrorList loose =
        ValidateResourceRequirements(container.resources, nullptr, FieldPath("resources"),
                                     {.allow_indivisible_huge_pages = true});
    return strict.size() != loose.size();
  };
  return std::any_of(spec.containers.begin(), spec.containers.end(), breaks) ||
         std::any_of(spec.initContainers.begin(), spec.initContainers.end(), breaks);
}

}  // namespace
}  // namespace pod

PodValidationOptions PodValidationOptionsFor(const core::v1::PodSpec* old) {
  PodValidationOptions options;
  if (old == nullptr) return options;
  options.allow_invalid_label_value_in_selector = pod::AffinityHasInvalidValue(*old);
  for (const core::v1::TopologySpreadConstraint& constraint : old->topologySpreadConstraints) {
    options.allow_invalid_topology_spread_selector |=
        !ValidateLabelSelector(constraint.labelSelector.get(), FieldPath("labelSelector")).empty();
  }
  options.allow_namespaced_sysctls_for_host = (old->hostNetwork || old->hostIPC) &&
                                              old->securityContext &&
                                              !old->securityContext->sysctls.empty();
  options.allow_non_local_projected_token_path = pod::HasNonLocalTokenPath(*old);
  options.allow_indivisible_huge_pages = pod::BreaksPageSize(*old);
  for (const core::v1::HostAlias& alias : old->hostAliases)
    options.known_addresses.push_back(alias.ip);
  if (old->dnsConfig) {
    for (const std::string& server : old->dnsConfig->nameservers)
      options.known_addresses.push_back(server);
  }
  return options;
}

FieldErrorList ValidatePodSpec(const core::v1::PodSpec& spec, const meta::v1::ObjectMeta* meta,
                               const FieldPath& path, const PodValidationOptions& options) {
  List<core::v1::Volume> volumes;
  FieldErrorList errors = pod::CheckVolumes(spec, meta, path.Child("volumes"), options, &volumes);
  Append(errors, pod::CheckResourceClaims(spec.resourceClaims, path.Child("resourceClaims")));
  Append(errors, pod::CheckAllContainers(spec, volumes, path, options));
  if (spec.hostNetwork)
    Append(errors, pod::CheckHostNetworkPorts(spec.containers, path.Child("containers"), options));
  Append(errors, pod::CheckPodResources(spec, path, options));
  Append(errors, pod::CheckPolicies(spec, path));
  Append(errors, ValidateLabels(spec.nodeSelector, path.Child("nodeSelector")));
  Append(errors, pod::CheckPodSecurityContext(spec, path, options));
  Append(errors, pod::CheckAffinity(spec.affinity.get(), path.Child("affinity"), options));
  Append(errors, pod::CheckDns(spec, path, options));
  Append(errors, pod::CheckReadinessGates(spec, path.Child("readinessGates")));
  Append(errors, pod::CheckSchedulingGates(spec.schedulingGates, path.Child("schedulingGates")));
  Append(errors, pod::CheckTopologySpread(spec.topologySpreadConstraints,
                                          path.Child("topologySpreadConstraints"), options));
  Append(errors, pod::CheckHostProcess(spec, path));
  Append(errors, pod::CheckReferences(spec, path));
  Append(errors, pod::CheckActiveDeadline(spec, path));
  Append(errors, pod::CheckHostNames(spec, path));
  Append(errors, ValidateTolerations(spec.tolerations, path.Child("tolerations")));
  Append(errors, pod::CheckHostAliases(spec.hostAliases, path.Child("hostAliases"), options));
  Append(errors, pod::CheckClasses(spec, path));
  Append(errors, pod::CheckOS(spec, path));
  return errors;
}

FieldErrorList ValidatePodTemplateSpec(const core::v1::PodTemplateSpec& pod_template,
                                       const FieldPath& path, const PodValidationOptions& options) {
  const meta::v1::ObjectMeta& meta = pod_template.metadata;
  FieldErrorList errors = ValidateLabels(meta.labels, path.Child("labels"));
  std::vector<validation::StringPair> annotations;
  for (const auto& [key, value] : meta.annotations) annotations.emplace_back(key, value);
  Append(errors, validation::ValidateAnnotations(annotations, path.Child("annotations")));
  Append(errors,
         pod::CheckPodAnnotations(meta, pod_template.spec, path.Child("annotations"), options));
  // The names of the pods are unknown, so `meta` is null.
  Append(errors, ValidatePodSpec(pod_template.spec, nullptr, path.Child("spec"), options));
  if (!pod_template.spec.ephemeralContainers.empty()) {
    errors.push_back(FieldError::Forbidden(path.Child("spec").Child("ephemeralContainers"),
                                           "ephemeral containers not allowed in pod template"));
  }
  return errors;
}

}  // namespace cox::apiserver
