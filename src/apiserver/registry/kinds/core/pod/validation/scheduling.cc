// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "base/strings.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace pod {
namespace {

using core::v1::Toleration;
using core::v1::TopologySpreadConstraint;

FieldErrorList CheckTolerationValue(const Toleration& toleration, const FieldPath& path) {
  std::string_view op = toleration.operator_;
  if (op.empty() || op == "Equal") {
    validation::Messages messages = validation::IsValidLabelValue(toleration.value);
    if (messages.empty()) return {};
    return {FieldError::Invalid(path, toleration.value, Join(messages, ";"))};
  }
  if (op == "Exists") {
    if (toleration.value.empty()) return {};
    return {FieldError::Invalid(path, toleration.value,
                                "value must be empty when `operator` is 'Exists'")};
  }
  return {FieldError::NotSupported(path, op, {"Equal", "Exists"})};
}

FieldErrorList CheckToleration(const Toleration& toleration, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath op = path.Child("operator"), effect = path.Child("effect");
  if (!toleration.key.empty())
    Append(errors, validation::ValidateLabelName(toleration.key, path.Child("key")));
  if (toleration.key.empty() && toleration.operator_ != "Exists") {
    errors.push_back(FieldError::Invalid(op, toleration.operator_,
                                         "operator must be Exists when `key` is empty, which means "
                                         "\"match all values and all keys\""));
  }
  if (toleration.tolerationSeconds && toleration.effect != "NoExecute") {
    errors.push_back(FieldError::Invalid(
        effect, toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  Append(errors, CheckTolerationValue(toleration, op));
  if (!toleration.effect.empty()) {
    Append(errors,
           CheckEnum(toleration.effect, effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
  }
  return errors;
}

FieldErrorList CheckMinDomains(const TopologySpreadConstraint& constraint, const FieldPath& path) {
  if (!constraint.minDomains) return {};
  FieldErrorList errors;
  if (*constraint.minDomains <= 0) {
    errors.push_back(
        FieldError::Invalid(path, *constraint.minDomains, "must be greater than zero"));
  }
  if (constraint.whenUnsatisfiable != "DoNotSchedule") {
    errors.push_back(
        FieldError::Invalid(path, *constraint.minDomains,
                            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " +
                                constraint.whenUnsatisfiable));
  }
  return errors;
}

FieldErrorList CheckInclusion(const std::optional<std::string>& policy, const FieldPath& path) {
  if (!policy || *policy == "Honor" || *policy == "Ignore") return {};
  return {FieldError::NotSupported(path, *policy, {"Honor", "Ignore"})};
}

FieldErrorList CheckSpreadKeys(const TopologySpreadConstraint& constraint, const FieldPath& path) {
  if (constraint.matchLabelKeys.empty()) return {};
  if (!constraint.labelSelector) {
    return {FieldError::Forbidden(path, "must not be specified when labelSelector is not set")};
  }
  FieldErrorList errors;
  for (size_t i = 0; i < constraint.matchLabelKeys.size(); ++i)
    Append(errors, validation::ValidateLabelName(constraint.matchLabelKeys[i], path.Index(i)));
  return errors;
}

FieldErrorList CheckConstraint(const TopologySpreadConstraint& constraint, bool repeated,
                               const FieldPath& path, const PodValidationOptions& options) {
  FieldErrorList errors;
  if (constraint.maxSkew <= 0) {
    errors.push_back(FieldError::Invalid(path.Child("maxSkew"), constraint.maxSkew,
                                         "must be greater than zero"));
  }
  if (constraint.topologyKey.empty())
    errors.push_back(FieldError::Required(path.Child("topologyKey"), "can not be empty"));
  std::string_view action = constraint.whenUnsatisfiable;
  if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
    errors.push_back(FieldError::NotSupported(path.Child("whenUnsatisfiable"), action,
                                              {"DoNotSchedule", "ScheduleAnyway"}));
  }
  if (repeated) {
    errors.push_back(FieldError::Duplicate(
        path.Child("{topologyKey, whenUnsatisfiable}"),
        "{" + constraint.topologyKey + ", " + constraint.whenUnsatisfiable + "}"));
  }
  Append(errors, CheckMinDomains(constraint, path.Child("minDomains")));
  Append(errors, CheckInclusion(constraint.nodeAffinityPolicy, path.Child("nodeAffinityPolicy")));
  Append(errors, CheckInclusion(constraint.nodeTaintsPolicy, path.Child("nodeTaintsPolicy")));
  Append(errors, CheckSpreadKeys(constraint, path.Child("matchLabelKeys")));
  if (!options.allow_invalid_topology_spread_selector) {
    Append(errors,
           ValidateLabelSelector(constraint.labelSelector.get(), path.Child("labelSelector")));
  }
  return errors;
}

}  // namespace

FieldErrorList CheckTopologySpread(const List<TopologySpreadConstraint>& constraints,
                                   const FieldPath& path, const PodValidationOptions& options) {
  FieldErrorList errors;
  for (size_t i = 0; i < constraints.size(); ++i) {
    // If two constraints have the same key and action, the error is at the first one.
    bool repeated = false;
    for (size_t j = i + 1; j < constraints.size(); ++j) {
      repeated |= constraints[i].topologyKey == constraints[j].topologyKey &&
                  constraints[i].whenUnsatisfiable == constraints[j].whenUnsatisfiable;
    }
    Append(errors, CheckConstraint(constraints[i], repeated, path.Index(i), options));
  }
  return errors;
}

FieldErrorList CheckSchedulingGates(const List<core::v1::PodSchedulingGate>& gates,
                                    const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (size_t i = 0; i < gates.size(); ++i) {
    Append(errors, CheckQualifiedName(gates[i].name, path.Index(i)));
    if (!names.insert(gates[i].name).second)
      errors.push_back(FieldError::Duplicate(path.Index(i), gates[i].name));
  }
  return errors;
}

}  // namespace pod

FieldErrorList ValidateTolerations(const List<core::v1::Toleration>& tolerations,
                                   const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < tolerations.size(); ++i)
    Append(errors, pod::CheckToleration(tolerations[i], path.Index(i)));
  return errors;
}

}  // namespace cox::apiserver
