// SPDX-License-Identifier: Apache-2.0
#include "api/rbac/v1.h"
#include "apiserver/registry/kinds/rbac/strategy.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/selector/labels.h"

namespace cox::apiserver {
namespace {

using rbac::v1::ClusterRole;
using rbac::v1::PolicyRule;
using rbac::v1::Role;

FieldErrorList CheckRules(const List<PolicyRule>& rules, bool namespaced) {
  FieldErrorList errors;
  FieldPath path("rules");
  for (size_t i = 0; i < rules.size(); ++i) {
    Append(errors, ValidatePolicyRule(rules[i], namespaced, path.Index(i)));
  }
  return errors;
}

FieldErrorList CheckAggregation(const rbac::v1::AggregationRule& rule) {
  FieldErrorList errors;
  FieldPath path = FieldPath("aggregationRule").Child("clusterRoleSelectors");
  if (rule.clusterRoleSelectors.empty()) {
    errors.push_back(FieldError::Required(
        path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (size_t i = 0; i < rule.clusterRoleSelectors.size(); ++i) {
    const meta::v1::LabelSelector& selector = rule.clusterRoleSelectors[i];
    Append(errors, ValidateLabelSelector(selector, path.Index(i)));
    if (!labels::Selector::FromLabelSelector(&selector).ok()) {
      errors.push_back(FieldError::Invalid(path.Index(i), nullptr, "invalid label selector."));
    }
  }
  return errors;
}

// The common strategy of Role and ClusterRole.
template <class T>
class RoleStrategyOf : public StrategyOf<T> {
 public:
  validation::NameRule name_rule() const override { return validation::NameIsPathSegment; }
  bool AllowCreateOnUpdate() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn, {.name = "Created At", .type = "date"}};
    return kColumns;
  }

 protected:
  Cells RowOf(const T& role, const Time&) const override {
    return {role.metadata.name, role.metadata.creationTimestamp.ToString()};
  }
};

class RoleStrategy final : public RoleStrategyOf<Role> {
 public:
  std::string_view storage_prefix() const override { return "roles"; }

 protected:
  FieldErrorList Check(const WriteContext&, const Role& role) const override {
    return CheckRules(role.rules, true);
  }
};

class ClusterRoleStrategy final : public RoleStrategyOf<ClusterRole> {
 public:
  std::string_view storage_prefix() const override { return "clusterroles"; }

 protected:
  FieldErrorList Check(const WriteContext&, const ClusterRole& role) const override {
    FieldErrorList errors = CheckRules(role.rules, false);
    if (role.aggregationRule) Append(errors, CheckAggregation(*role.aggregationRule));
    return errors;
  }
};

}  // namespace

FieldErrorList ValidatePolicyRule(const PolicyRule& rule, bool namespaced, const FieldPath& path) {
  FieldErrorList errors;
  if (rule.verbs.empty()) {
    errors.push_back(
        FieldError::Required(path.Child("verbs"), "verbs must contain at least one value"));
  }
  if (!rule.nonResourceURLs.empty()) {
    FieldPath urls = path.Child("nonResourceURLs");
    if (namespaced) {
      errors.push_back(FieldError::Invalid(urls, rule.nonResourceURLs,
                                           "namespaced rules cannot apply to non-resource URLs"));
    }
    if (!rule.apiGroups.empty() || !rule.resources.empty() || !rule.resourceNames.empty()) {
      errors.push_back(FieldError::Invalid(
          urls, rule.nonResourceURLs,
          "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return errors;
  }
  if (rule.apiGroups.empty()) {
    errors.push_back(FieldError::Required(path.Child("apiGroups"),
                                          "resource rules must supply at least one api group"));
  }
  if (rule.resources.empty()) {
    errors.push_back(FieldError::Required(path.Child("resources"),
                                          "resource rules must supply at least one resource"));
  }
  return errors;
}

StrategyPtr NewRoleStrategy() { return std::make_unique<RoleStrategy>(); }
StrategyPtr NewClusterRoleStrategy() { return std::make_unique<ClusterRoleStrategy>(); }

}  // namespace cox::apiserver
