// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/resource_names.h"

namespace cox::apiserver {
namespace {

using core::v1::ResourceQuota;
using core::v1::ResourceQuotaSpec;
using core::v1::ScopedResourceSelectorRequirement;

constexpr const char* kUnsupportedScope = "unsupported scope";
constexpr const char* kWrongResource = "unsupported scope applied to resource";
constexpr const char* kConflict = "conflicting scopes";

constexpr std::string_view kVolumeAttributesClass = "VolumeAttributesClass";
constexpr std::string_view kPriorityClass = "PriorityClass";
// Scopes without values.
constexpr std::string_view kYesOrNoScopes[] = {"BestEffort", "NotBestEffort", "Terminating",
                                               "NotTerminating", "CrossNamespacePodAffinity"};

bool IsYesOrNoScope(std::string_view scope) {
  return std::find(std::begin(kYesOrNoScopes), std::end(kYesOrNoScopes), scope) !=
         std::end(kYesOrNoScopes);
}

bool IsStandardScope(std::string_view scope) {
  return IsYesOrNoScope(scope) || scope == kPriorityClass || scope == kVolumeAttributesClass;
}

// Whether objects in `scope` use `resource`.
bool ScopeHasResource(std::string_view scope, std::string_view resource) {
  if (scope == kVolumeAttributesClass) {
    return resource == "persistentvolumeclaims" || resource == "requests.storage";
  }
  if (resource == "pods") return true;
  if (scope == "BestEffort") return false;
  return resource == "cpu" || resource == "memory" || resource == "limits.cpu" ||
         resource == "limits.memory" || resource == "requests.cpu" || resource == "requests.memory";
}

void CheckResources(FieldErrorList& errors, const ResourceQuotaSpec& spec, std::string_view scope,
                    const FieldPath& path, const FieldValue& value) {
  if (!IsStandardScope(scope)) return;
  for (const auto& [name, amount] : spec.hard) {
    if (IsStandardQuotaResourceName(name) && !ScopeHasResource(scope, name)) {
      errors.push_back(FieldError::Invalid(path, value, kWrongResource));
    }
  }
}

void CheckConflicts(FieldErrorList& errors, const std::set<std::string_view>& scopes,
                    const FieldPath& path, const FieldValue& value) {
  if (scopes.contains("BestEffort") && scopes.contains("NotBestEffort")) {
    errors.push_back(FieldError::Invalid(path, value, kConflict));
  }
  if (scopes.contains("Terminating") && scopes.contains("NotTerminating")) {
    errors.push_back(FieldError::Invalid(path, value, kConflict));
  }
}

FieldErrorList CheckScopes(const ResourceQuotaSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> seen;
  for (const std::string& scope : spec.scopes) {
    if (!IsStandardScope(scope)) {
      errors.push_back(FieldError::Invalid(path, spec.scopes, kUnsupportedScope));
    }
    CheckResources(errors, spec, scope, path, spec.scopes);
    seen.insert(scope);
  }
  CheckConflicts(errors, seen, path, spec.scopes);
  return errors;
}

void CheckOperator(FieldErrorList& errors, const ScopedResourceSelectorRequirement& term,
                   const FieldPath& path) {
  if (IsYesOrNoScope(term.scopeName) && term.operator_ != "Exists") {
    errors.push_back(FieldError::Invalid(
        path.Child("operator"), term.operator_,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
        "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
        "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"));
  }
  if (term.operator_ == "In" || term.operator_ == "NotIn") {
    if (term.values.empty()) {
      errors.push_back(FieldError::Required(path.Child("values"),
                                            "must be at least one value when `operator` is 'In' or "
                                            "'NotIn' for scope selector"));
    }
  } else if (term.operator_ == "Exists" || term.operator_ == "DoesNotExist") {
    if (!term.values.empty()) {
      errors.push_back(FieldError::Invalid(path.Child("values"), term.values,
                                           "must be no value when `operator` is 'Exist' or "
                                           "'DoesNotExist' for scope selector"));
    }
  } else {
    errors.push_back(FieldError::Invalid(path.Child("operator"), term.operator_,
                                         "not a valid selector operator"));
  }
}

FieldErrorList CheckScopeSelector(const ResourceQuotaSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  if (!spec.scopeSelector) return errors;
  std::set<std::string_view> seen;
  FieldPath terms = path.Child("matchExpressions");
  for (const ScopedResourceSelectorRequirement& term : spec.scopeSelector->matchExpressions) {
    if (!IsStandardScope(term.scopeName)) {
      errors.push_back(
          FieldError::Invalid(terms.Child("scopeName"), term.scopeName, kUnsupportedScope));
    }
    CheckResources(errors, spec, term.scopeName, terms, InternalValue(*spec.scopeSelector));
    CheckOperator(errors, term, terms);
    seen.insert(term.scopeName);
  }
  CheckConflicts(errors, seen, path, spec.scopes);
  return errors;
}

void CheckAmounts(FieldErrorList& errors, const Map<Quantity>& amounts, const FieldPath& path) {
  for (const auto& [name, amount] : amounts) {
    Append(errors, ValidateQuotaResourceName(name, path.Key(name)));
    Append(errors, ValidateResourceQuantityValue(name, amount, path.Key(name)));
  }
}

FieldErrorList CheckSpec(const ResourceQuotaSpec& spec) {
  FieldErrorList errors;
  FieldPath path("spec");
  CheckAmounts(errors, spec.hard, path.Child("hard"));
  Append(errors, CheckScopes(spec, path.Child("scopes")));
  Append(errors, CheckScopeSelector(spec, path.Child("scopeSelector")));
  return errors;
}

class StatusStrategy final : public PlainStatusStrategy<ResourceQuota> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const ResourceQuota& quota,
                             const ResourceQuota&) const override {
    FieldErrorList errors;
    FieldPath status("status");
    CheckAmounts(errors, quota.status.hard, status.Child("hard"));
    CheckAmounts(errors, quota.status.used, status.Child("used"));
    return errors;
  }
};

class ResourceQuotaStrategy final
    : public SpecAndStatusStrategy<ResourceQuota, StatusStrategy, Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "resourcequotas"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "Request", .type = "string"},
                                          {.name = "Limit", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const ResourceQuota& quota) const override {
    return CheckSpec(quota.spec);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const ResourceQuota& quota,
                             const ResourceQuota& old) const override {
    FieldErrorList errors = CheckSpec(quota.spec);
    std::set<std::string_view> scopes(quota.spec.scopes.begin(), quota.spec.scopes.end());
    std::set<std::string_view> before(old.spec.scopes.begin(), old.spec.scopes.end());
    if (scopes != before) {
      errors.push_back(
          validation::ImmutableField(FieldPath("spec").Child("scopes"), quota.spec.scopes));
    }
    return errors;
  }

  // "configmaps: 1/100, pods: 2/4"; resources of limits.* are in another column.
  Cells RowOf(const ResourceQuota& quota, const Time& now) const override {
    std::string requests, limits;
    for (const auto& [name, hard] : quota.status.hard) {
      std::string& column = name.starts_with("limits.") ? limits : requests;
      if (!column.empty()) column.append(", ");
      const Quantity* used = quota.status.used.Get(name);
      column.append(name).append(": ").append(used == nullptr ? "0" : used->ToString());
      column.append("/").append(hard.ToString());
    }
    return {quota.metadata.name, requests, limits, Age(quota.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewResourceQuotaStrategy() { return std::make_unique<ResourceQuotaStrategy>(); }

}  // namespace cox::apiserver
