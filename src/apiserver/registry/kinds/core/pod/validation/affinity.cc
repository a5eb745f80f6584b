// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace pod {
namespace {

using core::v1::NodeSelectorRequirement;
using core::v1::PodAffinityTerm;

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

FieldErrorList CheckWeight(int32_t weight, const FieldPath& path) {
  if (weight >= 1 && weight <= 100) return {};
  return {FieldError::Invalid(path.Child("weight"), weight, "must be in the range 1-100")};
}

FieldErrorList CheckRequirement(const NodeSelectorRequirement& term, const FieldPath& path,
                                bool allow_invalid_value) {
  FieldErrorList errors;
  std::string_view op = term.operator_;
  const FieldPath values = path.Child("values");
  if (op == "In" || op == "NotIn") {
    if (term.values.empty()) {
      errors.push_back(
          FieldError::Required(values, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!term.values.empty()) {
      errors.push_back(FieldError::Forbidden(
          values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (op == "Gt" || op == "Lt") {
    if (term.values.size() != 1) {
      errors.push_back(FieldError::Required(
          values, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors.push_back(
        FieldError::Invalid(path.Child("operator"), op, "not a valid selector operator"));
  }
  Append(errors, validation::ValidateLabelName(term.key, path.Child("key")));
  if (allow_invalid_value) return errors;
  for (size_t i = 0; i < term.values.size(); ++i) {
    AddInvalid(errors, values.Index(i), term.values[i],
               validation::IsValidLabelValue(term.values[i]));
  }
  return errors;
}

// metadata.name is the only field of nodes that can be selected.
FieldErrorList CheckFieldRequirement(const NodeSelectorRequirement& term, const FieldPath& path) {
  FieldErrorList errors;
  if (term.operator_ != "In" && term.operator_ != "NotIn") {
    errors.push_back(FieldError::Invalid(path.Child("operator"), term.operator_,
                                         "not a valid selector operator"));
  } else if (term.values.size() != 1) {
    errors.push_back(FieldError::Required(
        path.Child("values"),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (term.key != "metadata.name") {
    errors.push_back(
        FieldError::Invalid(path.Child("key"), term.key, "not a valid field selector key"));
    return errors;
  }
  for (size_t i = 0; i < term.values.size(); ++i)
    Append(errors, CheckDnsSubdomain(term.values[i], path.Child("values").Index(i)));
  return errors;
}

FieldErrorList CheckNodeAffinity(const core::v1::NodeAffinity& affinity, const FieldPath& path,
                                 const PodValidationOptions& options) {
  FieldErrorList errors;
  if (affinity.requiredDuringSchedulingIgnoredDuringExecution) {
    Append(errors, ValidateNodeSelector(*affinity.requiredDuringSchedulingIgnoredDuringExecution,
                                        path.Child(kRequired),
                                        options.allow_invalid_label_value_in_selector));
  }
  const auto& preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const FieldPath at = path.Child(kPreferred).Index(i);
    Append(errors, CheckWeight(preferred[i].weight, at));
    // Values of preferences are not validated, as in earlier versions.
    Append(errors, ValidateNodeSelectorTerm(preferred[i].preference, at.Child("preference"),
                                            /*allow_invalid_label_value=*/true));
  }
  return errors;
}

// Keys of the pod's own labels that complete the selector.
FieldErrorList CheckLabelKeys(const List<std::string>& keys, bool has_selector,
                              const FieldPath& path) {
  if (keys.empty()) return {};
  if (!has_selector) {
    return {FieldError::Forbidden(path, "must not be specified when labelSelector is not set")};
  }
  FieldErrorList errors;
  for (size_t i = 0; i < keys.size(); ++i)
    Append(errors, validation::ValidateLabelName(keys[i], path.Index(i)));
  return errors;
}

FieldErrorList CheckMatchLabelKeys(const PodAffinityTerm& term, const FieldPath& path) {
  const bool has_selector = term.labelSelector.has_value();
  const FieldPath match = path.Child("matchLabelKeys"), mismatch = path.Child("mismatchLabelKeys");
  FieldErrorList errors = CheckLabelKeys(term.matchLabelKeys, has_selector, match);
  Append(errors, CheckLabelKeys(term.mismatchLabelKeys, has_selector, mismatch));
  for (size_t i = 0; i < term.matchLabelKeys.size(); ++i) {
    const auto& others = term.mismatchLabelKeys;
    if (std::find(others.begin(), others.end(), term.matchLabelKeys[i]) == others.end()) continue;
    errors.push_back(FieldError::Invalid(match.Index(i), term.matchLabelKeys[i],
                                         "exists in both matchLabelKeys and mismatchLabelKeys"));
  }
  return errors;
}

FieldErrorList CheckTerm(const PodAffinityTerm& term, const FieldPath& path,
                         const PodValidationOptions& options) {
  const LabelSelectorValidationOptions selectors = {
      .allow_invalid_label_value = options.allow_invalid_label_value_in_selector};
  FieldErrorList errors =
      ValidateLabelSelector(term.labelSelector.get(), path.Child("labelSelector"), selectors);
  Append(errors, ValidateLabelSelector(term.namespaceSelector.get(),
                                       path.Child("namespaceSelector"), selectors));
  for (const std::string& name : term.namespaces)
    Append(errors, CheckDnsLabel(name, path.Child("namespace")));
  Append(errors, CheckMatchLabelKeys(term, path));
  if (term.topologyKey.empty())
    errors.push_back(FieldError::Required(path.Child("topologyKey"), "can not be empty"));
  Append(errors, validation::ValidateLabelName(term.topologyKey, path.Child("topologyKey")));
  return errors;
}

// PodAffinity and PodAntiAffinity have the same members.
template <class PodTerms>
FieldErrorList CheckPodTerms(const PodTerms& affinity, const FieldPath& path,
                             const PodValidationOptions& options) {
  FieldErrorList errors;
  const auto& required = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  for (size_t i = 0; i < required.size(); ++i)
    Append(errors, CheckTerm(required[i], path.Child(kRequired).Index(i), options));
  const auto& preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const FieldPath at = path.Child(kPreferred).Index(i);
    Append(errors, CheckWeight(preferred[i].weight, at));
    Append(errors, CheckTerm(preferred[i].podAffinityTerm, at.Child("podAffinityTerm"), options));
  }
  return errors;
}

}  // namespace

FieldErrorList CheckAffinity(const core::v1::Affinity* affinity, const FieldPath& path,
                             const PodValidationOptions& options) {
  FieldErrorList errors;
  if (affinity == nullptr) return errors;
  if (affinity->nodeAffinity)
    Append(errors, CheckNodeAffinity(*affinity->nodeAffinity, path.Child("nodeAffinity"), options));
  if (affinity->podAffinity)
    Append(errors, CheckPodTerms(*affinity->podAffinity, path.Child("podAffinity"), options));
  if (affinity->podAntiAffinity) {
    Append(errors,
           CheckPodTerms(*affinity->podAntiAffinity, path.Child("podAntiAffinity"), options));
  }
  return errors;
}

}  // namespace pod

FieldErrorList ValidateNodeSelectorTerm(const core::v1::NodeSelectorTerm& term,
                                        const FieldPath& path, bool allow_invalid_label_value) {
  FieldErrorList errors;
  for (size_t i = 0; i < term.matchExpressions.size(); ++i) {
    Append(errors,
           pod::CheckRequirement(term.matchExpressions[i], path.Child("matchExpressions").Index(i),
                                 allow_invalid_label_value));
  }
  for (size_t i = 0; i < term.matchFields.size(); ++i) {
    Append(errors,
           pod::CheckFieldRequirement(term.matchFields[i], path.Child("matchFields").Index(i)));
  }
  return errors;
}

FieldErrorList ValidateNodeSelector(const core::v1::NodeSelector& selector, const FieldPath& path,
                                    bool allow_invalid_label_value) {
  const FieldPath terms = path.Child("nodeSelectorTerms");
  if (selector.nodeSelectorTerms.empty())
    return {FieldError::Required(terms, "must have at least one node selector term")};
  FieldErrorList errors;
  for (size_t i = 0; i < selector.nodeSelectorTerms.size(); ++i) {
    Append(errors, ValidateNodeSelectorTerm(selector.nodeSelectorTerms[i], terms.Index(i),
                                            allow_invalid_label_value));
  }
  return errors;
}

}  // namespace cox::apiserver
