// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/pod_security.h"

#include <algorithm>

#include "api/apps/v1.h"
#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "apiserver/admission/plugins/pod_security/existing_pods.h"
#include "apiserver/admission/plugins/pod_security/standards.h"
#include "apiserver/admission/stored_objects.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "base/check.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using core::v1::Namespace;
using core::v1::Pod;
using core::v1::PodTemplateSpec;
using pod_security::Level;
using pod_security::LevelVersion;
using pod_security::Options;
using pod_security::Policy;

bool Contains(const std::vector<std::string>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The Pod template of a workload; null if the object has none.
const PodTemplateSpec* TemplateOf(const Object& object) {
  if (const auto* o = object.As<apps::v1::Deployment>()) return &o->spec.template_;
  if (const auto* o = object.As<apps::v1::ReplicaSet>()) return &o->spec.template_;
  if (const auto* o = object.As<apps::v1::StatefulSet>()) return &o->spec.template_;
  if (const auto* o = object.As<apps::v1::DaemonSet>()) return &o->spec.template_;
  if (const auto* o = object.As<batch::v1::Job>()) return &o->spec.template_;
  if (const auto* o = object.As<batch::v1::CronJob>()) return &o->spec.jobTemplate.spec.template_;
  if (const auto* o = object.As<core::v1::PodTemplate>()) return &o->template_;
  if (const auto* o = object.As<core::v1::ReplicationController>()) return o->spec.template_.get();
  return nullptr;
}

// Reports whether a mutable field that is relevant for the standards has changed between two
// containers.
template <class Container>
bool ContainerChanged(const Pod& pod, const Container& now, const Pod& old_pod,
                      const Container& before) {
  if (now.image != before.image) return true;
  const std::string key = std::string(pod::kSeccompContainerPrefix) + now.name;
  const std::string* a = pod.metadata.annotations.Get(key);
  const std::string* b = old_pod.metadata.annotations.Get(key);
  return (a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b);
}

template <class Containers>
bool AnyContainerChanged(const Pod& pod, const Containers& now, const Pod& old_pod,
                         const Containers& before) {
  if (now.size() != before.size()) return true;
  for (size_t i = 0; i < now.size(); ++i) {
    if (ContainerChanged(pod, now[i], old_pod, before[i])) return true;
  }
  return false;
}

bool EphemeralContainersChanged(const Pod& pod, const Pod& old) {
  const auto& before = old.spec.ephemeralContainers;
  return std::any_of(pod.spec.ephemeralContainers.begin(), pod.spec.ephemeralContainers.end(),
                     [&](const core::v1::EphemeralContainer& container) {
                       const auto& now = container.ephemeralContainerCommon;
                       auto same =
                           std::find_if(before.begin(), before.end(), [&](const auto& other) {
                             return other.ephemeralContainerCommon.name == now.name;
                           });
                       return same == before.end() ||
                              ContainerChanged(pod, now, old, same->ephemeralContainerCommon);
                     });
}

// Updates without relevant changes are allowed even if the Pod violates the standard: labels,
// status and finalizers of a running Pod must stay writable when its namespace becomes stricter.
bool MattersToStandards(const Pod& pod, const Pod& old) {
  return AnyContainerChanged(pod, pod.spec.containers, old, old.spec.containers) ||
         AnyContainerChanged(pod, pod.spec.initContainers, old, old.spec.initContainers) ||
         EphemeralContainersChanged(pod, old);
}

// Enforces the Pod Security Standard of the namespace.
class PodSecurity final : public AdmissionPlugin {
 public:
  PodSecurity(const Registry& registry, Options options)
      : namespaces_(registry.Hub(Namespace::kKind).store()),
        pods_(registry.Hub(Pod::kKind).store()),
        options_(std::move(options)) {}

  std::string_view name() const override { return "PodSecurity"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    const bool writes =
        request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
    if (!writes || request.object == nullptr) return {};
    const KindInfo& kind = request.resource.kind();
    if (kind.group.empty() && kind.kind == "Namespace") return ValidateNamespace(ctx, request);
    if (kind.group.empty() && kind.kind == "Pod") return ValidatePod(ctx, request);
    if (request.subresource.empty()) return ValidateTemplate(ctx, request);
    return {};
  }

 private:
  Status ValidateNamespace(Context& ctx, const AdmissionRequest& request) const {
    if (!request.subresource.empty()) return {};
    const auto& labels = request.object->As<Namespace>()->metadata.labels;
    const pod_security::LabelledPolicy now = PolicyOf(labels, options_.defaults);
    if (request.old == nullptr) {
      if (!now.errors.empty()) return Invalid(request, now.errors);
      if (Contains(options_.exempt_namespaces, request.name)) WarnExempt(request, labels, now);
      return {};
    }
    const pod_security::LabelledPolicy before =
        PolicyOf(request.old->As<Namespace>()->metadata.labels, options_.defaults);
    // Labels that were already invalid do not block other changes.
    if (!now.errors.empty() && AggregateText(now.errors) != AggregateText(before.errors)) {
      return Invalid(request, now.errors);
    }
    const LevelVersion& enforce = now.policy.enforce;
    const LevelVersion& enforced = before.policy.enforce;
    if (enforce == enforced || enforce.level == Level::kPrivileged) return {};
    if (Contains(options_.exempt_namespaces, request.name)) {
      WarnExempt(request, labels, now);
      return {};
    }
    if (enforce.version == enforced.version && enforce.level <= enforced.level) return {};
    for (std::string& text :
         pod_security::WarnAboutExistingPods(ctx, pods_, request.name, enforce, options_)) {
      Warn(request, std::move(text));
    }
    return {};
  }

  Status ValidatePod(Context& ctx, const AdmissionRequest& request) const {
    // Other subresources do not change relevant fields, or their object is not a Pod.
    static constexpr std::string_view kSubresources[] = {"", "ephemeralcontainers", "resize"};
    const Pod* pod = request.object->As<Pod>();
    if (pod == nullptr || std::find(std::begin(kSubresources), std::end(kSubresources),
                                    request.subresource) == std::end(kSubresources)) {
      return {};
    }
    if (Exempt(request)) return {};
    COX_ASSIGN_OR_RETURN(const pod_security::LabelledPolicy labelled,
                         PolicyOfNamespace(ctx, request));
    if (labelled.errors.empty() && labelled.policy.FullyPrivileged()) {
      request.Annotate(kEnforcePolicy, labelled.policy.enforce.ToString());
      return {};
    }
    if (request.old != nullptr && !MattersToStandards(*pod, *request.old->As<Pod>())) return {};
    return Judge(request, labelled, pod->metadata, pod->spec, /*enforce=*/true);
  }

  Status ValidateTemplate(Context& ctx, const AdmissionRequest& request) const {
    const PodTemplateSpec* from = TemplateOf(*request.object);
    if (from == nullptr || Exempt(request)) return {};
    COX_ASSIGN_OR_RETURN(const pod_security::LabelledPolicy labelled,
                         PolicyOfNamespace(ctx, request));
    const Policy& policy = labelled.policy;
    if (labelled.errors.empty() && policy.warn.level == Level::kPrivileged &&
        policy.audit.level == Level::kPrivileged) {
      return {};
    }
    return Judge(request, labelled, from->metadata, from->spec, /*enforce=*/false);
  }

  // Evaluates the policy of the namespace for a Pod or Pod template. `enforce` is false for
  // templates: they cause only warnings and audit annotations, because the Pods are checked when
  // they are created.
  Status Judge(const AdmissionRequest& request, const pod_security::LabelledPolicy& labelled,
               const meta::v1::ObjectMeta& meta, const core::v1::PodSpec& spec,
               bool enforce) const {
    if (spec.runtimeClassName &&
        Contains(options_.exempt_runtime_classes, *spec.runtimeClassName)) {
      request.Annotate(kExempt, "runtimeClass");
      return {};
    }
    const Policy& policy = labelled.policy;
    if (!labelled.errors.empty()) {
      request.Annotate(kError, "Failed to parse policy: " + AggregateText(labelled.errors));
    }
    Status refused;
    if (enforce) {
      request.Annotate(kEnforcePolicy, policy.enforce.ToString());
      const auto violations = Evaluate(policy.enforce, meta, spec);
      if (!violations.empty()) {
        refused = ForbiddenError(request.resource.resource(), request.name,
                                 "violates PodSecurity " + Text(policy.enforce, violations));
      }
    }
    if (const auto violations = Evaluate(policy.audit, meta, spec); !violations.empty()) {
      request.Annotate(kAuditViolations,
                       "would violate PodSecurity " + Text(policy.audit, violations));
    }
    if (!refused.ok()) return refused;  // no warnings in addition to the error
    if (const auto violations = Evaluate(policy.warn, meta, spec); !violations.empty()) {
      Warn(request, "would violate PodSecurity " + Text(policy.warn, violations));
    }
    return {};
  }

  static std::string Text(const LevelVersion& standard,
                          const pod_security::Violations& violations) {
    return Quote(standard.ToString()) + ": " + Details(violations);
  }

  bool Exempt(const AdmissionRequest& request) const {
    if (Contains(options_.exempt_namespaces, request.ns)) {
      request.Annotate(kExempt, "namespace");
      return true;
    }
    if (Contains(options_.exempt_users, request.user.name)) {
      request.Annotate(kExempt, "user");
      return true;
    }
    return false;
  }

  Result<pod_security::LabelledPolicy> PolicyOfNamespace(Context& ctx,
                                                         const AdmissionRequest& request) const {
    Result<Object> found = FindObject(ctx, namespaces_, "", request.ns);
    if (!found.ok()) {
      request.Annotate(kError, "failed to lookup namespace");
      return Status(Reason::kInternalError, "failed to lookup namespace " + Quote(request.ns) +
                                                ": " + std::string(found.status().message()));
    }
    return PolicyOf(found->As<Namespace>()->metadata.labels, options_.defaults);
  }

  static Status Invalid(const AdmissionRequest& request, const FieldErrorList& errors) {
    return NewInvalid("", "Namespace", request.name, errors);
  }

  void WarnExempt(const AdmissionRequest& request, const Map<std::string>& labels,
                  const pod_security::LabelledPolicy& labelled) const {
    if (labelled.policy.FullyPrivileged() || labelled.policy == options_.defaults) return;
    Warn(request, "namespace " + Quote(request.name) +
                      " is exempt from Pod Security, and the policy (" +
                      DescribeLabels(labels, labelled.policy) + ") will be ignored");
  }

  static void Warn(const AdmissionRequest& request, std::string text) {
    if (request.warnings != nullptr) request.warnings->push_back(std::move(text));
  }

  // Audit annotations.
  static constexpr std::string_view kExempt = "pod-security.kubernetes.io/exempt";
  static constexpr std::string_view kEnforcePolicy = "pod-security.kubernetes.io/enforce-policy";
  static constexpr std::string_view kAuditViolations =
      "pod-security.kubernetes.io/audit-violations";
  static constexpr std::string_view kError = "pod-security.kubernetes.io/error";

  const ResourceStore& namespaces_;
  const ResourceStore& pods_;
  const Options options_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> pod_security::NewPlugin(const Registry& registry,
                                                               Options options) {
  return std::make_unique<PodSecurity>(registry, std::move(options));
}

std::unique_ptr<const AdmissionPlugin> NewPodSecurity(const AdmissionParts& parts) {
  const Value* config = parts.ConfigOf("PodSecurity");
  if (config == nullptr) return pod_security::NewPlugin(parts.registry, {});
  Result<pod_security::Options> options = pod_security::ReadOptions(*config);
  COX_CHECK(options.ok());
  return pod_security::NewPlugin(parts.registry, std::move(*options));
}

}  // namespace cox::apiserver
