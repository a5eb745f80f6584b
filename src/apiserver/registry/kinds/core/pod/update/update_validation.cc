// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/update/update_validation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/kinds/core/pod/validation/internal_form.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/text_diff.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::NodeSelectorTerm;
using core::v1::Pod;
using core::v1::PodSpec;
using core::v1::Toleration;

const FieldPath& Spec() {
  static const FieldPath path("spec");
  return path;
}

// Projected tokens require a service account.
FieldErrorList CheckTokenOwner(const PodSpec& spec) {
  FieldErrorList errors;
  if (!spec.serviceAccountName.empty()) return errors;
  for (size_t i = 0; i < spec.volumes.size(); ++i) {
    const auto& projected = spec.volumes[i].volumeSource.projected;
    if (!projected) continue;
    const FieldPath sources = Spec().Child("volumes").Index(i).Child("projected").Child("sources");
    for (size_t j = 0; j < projected->sources.size(); ++j) {
      if (!projected->sources[j].serviceAccountToken) continue;
      errors.push_back(
          FieldError::Forbidden(sources.Index(j).Child("serviceAccountToken"),
                                "must not be specified when serviceAccountName is not set"));
    }
  }
  return errors;
}

FieldErrorList ValidatePod(const Pod& pod, PodValidationOptions options) {
  options.resource_is_pod = true;
  FieldErrorList errors = pod::CheckPodAnnotations(
      pod.metadata, pod.spec, FieldPath("metadata").Child("annotations"), options);
  Append(errors, ValidatePodSpec(pod.spec, &pod.metadata, Spec(), options));
  Append(errors, CheckTokenOwner(pod.spec));
  Append(errors, pod::CheckContainersOnlyForPod(pod.spec.containers, Spec().Child("containers")));
  Append(errors,
         pod::CheckContainersOnlyForPod(pod.spec.initContainers, Spec().Child("initContainers")));
  return errors;
}

FieldErrorList ValidateChangedPod(const Pod& pod, const Pod& old) {
  PodValidationOptions options = PodValidationOptionsFor(&old.spec);
  const std::string* cost = old.metadata.annotations.Get(pod::kDeletionCostAnnotation);
  const std::string* new_cost = pod.metadata.annotations.Get(pod::kDeletionCostAnnotation);
  options.allow_any_deletion_cost = cost != nullptr && new_cost != nullptr && *cost == *new_cost;
  return ValidatePod(pod, options);
}

// Annotations that determine how the pod was started are immutable.
FieldErrorList CheckAnnotationUpdates(const Pod& pod, const Pod& old) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("metadata").Child("annotations");
  auto what = [](const std::string& key) -> std::string_view {
    if (key.starts_with(pod::kAppArmorPrefix)) return "AppArmor annotations";
    if (key == pod::kMirrorAnnotation) return "mirror pod annotation";
    return {};
  };
  for (const auto& [key, value] : old.metadata.annotations) {
    const std::string* now = pod.metadata.annotations.Get(key);
    if (what(key).empty() || (now != nullptr && *now == value)) continue;
    errors.push_back(
        FieldError::Forbidden(path.Key(key), "may not remove or update " + std::string(what(key))));
  }
  for (const auto& [key, value] : pod.metadata.annotations) {
    if (what(key).empty() || old.metadata.annotations.contains(key)) continue;
    errors.push_back(FieldError::Forbidden(path.Key(key), "may not add " + std::string(what(key))));
  }
  return errors;
}

FieldErrorList CheckImages(const List<Container>& containers, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < containers.size(); ++i) {
    const std::string& image = containers[i].image;
    const FieldPath at = path.Index(i).Child("image");
    if (image.empty()) {
      errors.push_back(FieldError::Required(at));
    } else if (TrimSpace(image).size() != image.size()) {
      errors.push_back(
          FieldError::Invalid(at, image, "must not have leading or trailing whitespace"));
    }
  }
  return errors;
}

FieldErrorList CheckDeadlineChange(const PodSpec& spec, const PodSpec& old) {
  const FieldPath path = Spec().Child("activeDeadlineSeconds");
  if (!spec.activeDeadlineSeconds) {
    if (!old.activeDeadlineSeconds) return {};
    return {
        FieldError::Invalid(path, nullptr, "must not update from a positive integer to nil value")};
  }
  const int64_t now = *spec.activeDeadlineSeconds;
  FieldErrorList errors;
  for (std::string& message : validation::IsInRange(now, 0, std::numeric_limits<int32_t>::max())) {
    errors.push_back(FieldError::Invalid(path, now, std::move(message)));
  }
  if (errors.empty() && old.activeDeadlineSeconds && *old.activeDeadlineSeconds < now) {
    errors.push_back(
        FieldError::Invalid(path, now, "must be less than or equal to previous value"));
  }
  return errors;
}

FieldErrorList CheckAddedTolerations(const List<Toleration>& now, const List<Toleration>& old) {
  const FieldPath path = Spec().Child("tolerations");
  for (Toleration kept : old) {
    const bool found = std::any_of(now.begin(), now.end(), [&](const Toleration& toleration) {
      kept.tolerationSeconds = toleration.tolerationSeconds;
      return DeepEqual(kept, toleration);
    });
    if (!found) {
      return {FieldError::Forbidden(
          path, "existing toleration can not be modified except its tolerationSeconds")};
    }
  }
  return ValidateTolerations(now, path);
}

FieldErrorList CheckRemovedGates(const PodSpec& spec, const PodSpec& old) {
  FieldErrorList errors;
  const FieldPath path = Spec().Child("schedulingGates");
  for (size_t i = 0; i < spec.schedulingGates.size(); ++i) {
    const std::string& name = spec.schedulingGates[i].name;
    const bool known =
        std::any_of(old.schedulingGates.begin(), old.schedulingGates.end(),
                    [&](const core::v1::PodSchedulingGate& gate) { return gate.name == name; });
    if (known) continue;
    errors.push_back(FieldError::Forbidden(
        path.Index(i).Child("name"),
        "only deletion is allowed, but found new scheduling gate '" + name + "'"));
  }
  return errors;
}

FieldValue MapValue(const Map<std::string>& map) {
  std::string text = "{";
  for (const auto& [key, value] : map) {
    if (text.size() > 1) text += ',';
    AppendJsonString(text, key);
    text += ':';
    AppendJsonString(text, value);
  }
  return FieldValue::Json(text + "}");
}

FieldErrorList CheckNodeSelectorAdditions(const PodSpec& spec, const PodSpec& old) {
  for (const auto& [key, value] : old.nodeSelector) {
    const std::string* now = spec.nodeSelector.Get(key);
    if (now != nullptr && *now == value) continue;
    return {FieldError::Invalid(
        Spec().Child("nodeSelector"), MapValue(spec.nodeSelector),
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)")};
  }
  return {};
}

// All requirements of a term must match, so additional ones can only narrow it.
bool OnlyAdds(const NodeSelectorTerm& term, const NodeSelectorTerm& old) {
  if (old.matchExpressions.empty() && old.matchFields.empty())
    return term.matchExpressions.empty() && term.matchFields.empty();
  auto extends = [](const auto& now, const auto& before) {
    if (now.size() < before.size()) return false;
    for (size_t i = 0; i < before.size(); ++i)
      if (!DeepEqual(now[i], before[i])) return false;
    return true;
  };
  return extends(term.matchExpressions, old.matchExpressions) &&
         extends(term.matchFields, old.matchFields);
}

const List<NodeSelectorTerm>& RequiredTerms(const PodSpec& spec) {
  static const List<NodeSelectorTerm> none;
  if (!spec.affinity || !spec.affinity->nodeAffinity) return none;
  const auto& required =
      spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution;
  return required ? required->nodeSelectorTerms : none;
}

FieldErrorList CheckNodeAffinityAdditions(const PodSpec& spec, const PodSpec& old) {
  const List<NodeSelectorTerm>& now = RequiredTerms(spec);
  const List<NodeSelectorTerm>& before = RequiredTerms(old);
  if (before.empty()) return {};
  const FieldPath path = Spec()
                             .Child("affinity")
                             .Child("nodeAffinity")
                             .Child("requiredDuringSchedulingIgnoredDuringExecution")
                             .Child("nodeSelectorTerms");
  auto value_of = [](const List<NodeSelectorTerm>& terms) {
    std::string text = "[";
    for (const NodeSelectorTerm& term : terms) {
      if (text.size() > 1) text += ',';
      text += InternalValue(term).text();
    }
    return FieldValue::Json(text + "]");
  };
  if (now.size() != before.size()) {
    return {FieldError::Invalid(
        path, now.empty() ? FieldValue(nullptr) : value_of(now),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed")};
  }
  FieldErrorList errors;
  for (size_t i = 0; i < now.size(); ++i) {
    if (OnlyAdds(now[i], before[i])) continue;
    errors.push_back(FieldError::Invalid(path.Index(i), InternalValue(now[i]),
                                         "only additions are allowed (no mutations or deletions)"));
  }
  return errors;
}

// While a pod has scheduling gates, its node selector and affinity can be narrowed. Restores the
// validated fields in `changed`, so that they do not count as changes.
FieldErrorList CheckGatedChanges(const PodSpec& spec, const PodSpec& old, PodSpec& changed) {
  if (old.schedulingGates.empty()) return {};
  FieldErrorList errors = CheckNodeSelectorAdditions(spec, old);
  changed.nodeSelector = old.nodeSelector;
  const core::v1::NodeAffinity* before = old.affinity ? old.affinity->nodeAffinity.get() : nullptr;
  if (spec.affinity || before != nullptr) {
    if (before != nullptr) Append(errors, CheckNodeAffinityAdditions(spec, old));
    if (old.affinity) {
      changed.affinity.ensure().nodeAffinity = old.affinity->nodeAffinity;
    } else if (changed.affinity) {
      // Only node affinity may have been added.
      changed.affinity->nodeAffinity.reset();
      if (!changed.affinity->podAffinity && !changed.affinity->podAntiAffinity)
        changed.affinity.reset();
    }
  }
  return errors;
}

}  // namespace

FieldErrorList ValidatePodCreate(const Pod& pod) {
  FieldErrorList errors = ValidatePod(pod, {});
  if (!pod.spec.ephemeralContainers.empty()) {
    errors.push_back(
        FieldError::Forbidden(Spec().Child("ephemeralContainers"), "cannot be set on create"));
  }
  if (!pod.spec.schedulingGates.empty() && !pod.spec.nodeName.empty()) {
    errors.push_back(FieldError::Forbidden(
        Spec().Child("nodeName"), "cannot be set until all schedulingGates have been cleared"));
  }
  return errors;
}

FieldErrorList ValidatePodUpdate(const Pod& pod, const Pod& old) {
  FieldErrorList errors = ValidateChangedPod(pod, old);
  Append(errors, CheckAnnotationUpdates(pod, old));
  const PodSpec& spec = pod.spec;
  constexpr const char* kNoSuch = "pod updates may not add or remove containers";
  for (auto [name, member] : {std::pair{"containers", &PodSpec::containers},
                              std::pair{"initContainers", &PodSpec::initContainers}}) {
    const FieldPath path = Spec().Child(name);
    if ((spec.*member).size() != (old.spec.*member).size()) {
      errors.push_back(FieldError::Forbidden(path, kNoSuch));
      return errors;
    }
    Append(errors, CheckImages(spec.*member, path));
  }
  if (FieldErrorList deadline = CheckDeadlineChange(spec, old.spec); !deadline.empty()) {
    Append(errors, std::move(deadline));
    return errors;
  }
  Append(errors, CheckAddedTolerations(spec.tolerations, old.spec.tolerations));
  Append(errors, CheckRemovedGates(spec, old.spec));

  // Restore all mutable fields; the rest must be unchanged.
  PodSpec changed = spec;
  for (size_t i = 0; i < changed.containers.size(); ++i)
    changed.containers[i].image = old.spec.containers[i].image;
  for (size_t i = 0; i < changed.initContainers.size(); ++i)
    changed.initContainers[i].image = old.spec.initContainers[i].image;
  changed.activeDeadlineSeconds = old.spec.activeDeadlineSeconds;
  changed.schedulingGates = old.spec.schedulingGates;
  changed.tolerations = old.spec.tolerations;
  if (old.spec.terminationGracePeriodSeconds.value_or(0) < 0 &&
      spec.terminationGracePeriodSeconds == 1) {
    changed.terminationGracePeriodSeconds = old.spec.terminationGracePeriodSeconds;
  }
  Append(errors, CheckGatedChanges(spec, old.spec, changed));
  if (!DeepEqual(changed, old.spec)) {
    errors.push_back(FieldError::Forbidden(
        Spec(),
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)\n" +
            UnifiedDiff(InternalForm(old.spec), InternalForm(changed))));
  }
  return errors;
}

FieldErrorList ValidatePodEphemeralContainersUpdate(const Pod& pod, const Pod& old) {
  FieldErrorList errors = ValidateChangedPod(pod, old);
  const FieldPath path = Spec().Child("ephemeralContainers");
  if (old.metadata.annotations.contains(pod::kMirrorAnnotation)) {
    errors.push_back(
        FieldError::Forbidden(FieldPath(), "static pods do not support ephemeral containers"));
  }
  for (const core::v1::EphemeralContainer& before : old.spec.ephemeralContainers) {
    const std::string& name = before.ephemeralContainerCommon.name;
    const auto& all = pod.spec.ephemeralContainers;
    auto now = std::find_if(all.begin(), all.end(), [&](const auto& container) {
      return container.ephemeralContainerCommon.name == name;
    });
    if (now == all.end()) {
      errors.push_back(FieldError::Forbidden(
          path, "existing ephemeral containers " + Quote(name) + " may not be removed\n"));
    } else if (!DeepEqual(*now, before)) {
      errors.push_back(FieldError::Forbidden(
          path, "existing ephemeral containers " + Quote(name) + " may not be changed\n" +
                    UnifiedDiff(InternalForm(before), InternalForm(*now))));
    }
  }
  return errors;
}

}  // namespace cox::apiserver
