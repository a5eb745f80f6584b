// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "api/flowcontrol/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of flowcontrol.apiserver.k8s.io: API priority and fairness.
namespace cox::apiserver {

StrategyPtr NewFlowSchemaStrategy();
StrategyPtr NewPriorityLevelConfigurationStrategy();

// Validates one rule of a FlowSchema: its subjects and the requests that it matches.
FieldErrorList ValidateFlowSchemaRule(const flowcontrol::v1::PolicyRulesWithSubjects& rule,
                                      const FieldPath& path);

// Conditions of both kinds: each has a type, and types are unique.
template <class Condition>
FieldErrorList ValidateFlowConditions(const List<Condition>& conditions) {
  FieldErrorList errors;
  std::set<std::string_view> seen;
  const FieldPath path = FieldPath("status").Child("conditions");
  for (size_t i = 0; i < conditions.size(); ++i) {
    const FieldPath type = path.Index(i).Child("type");
    if (!seen.insert(conditions[i].type).second) {
      errors.push_back(FieldError::Duplicate(type, conditions[i].type));
    }
    if (conditions[i].type.empty()) {
      errors.push_back(FieldError::Required(type, "must not be empty"));
    }
  }
  return errors;
}

// The spec of a mandatory FlowSchema, which is immutable. Null for other names.
const flowcontrol::v1::FlowSchemaSpec* MandatoryFlowSchema(std::string_view name);

// Updates of /status keep all metadata except managedFields.
template <class T>
class FlowStatusStrategy : public UpdateStrategyOf<T> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec", "metadata"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, T& object, const T& old) const override {
    auto managed = std::move(object.metadata.managedFields);
    std::string version = std::move(object.metadata.resourceVersion);
    object.metadata = old.metadata;
    object.metadata.managedFields = std::move(managed);
    object.metadata.resourceVersion = std::move(version);
    object.spec = old.spec;
  }
};

}  // namespace cox::apiserver
