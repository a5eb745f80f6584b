// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "api/flowcontrol/v1.h"
#include "apiserver/registry/store/strategy.h"

// The kinds of flowcontrol.apiserver.k8s.io: which requests wait for which others.
namespace cox::apiserver {

StrategyPtr NewFlowSchemaStrategy();
StrategyPtr NewPriorityLevelConfigurationStrategy();

// Who is matched by one rule of a FlowSchema, and what.
FieldErrorList ValidateFlowSchemaRule(const flowcontrol::v1::PolicyRulesWithSubjects& rule,
                                      const FieldPath& path);

// Conditions of both kinds: each has a type, each type stands once.
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

// The two flow schemas that every server needs: their spec is fixed. Null for other names.
const flowcontrol::v1::FlowSchemaSpec* MandatoryFlowSchema(std::string_view name);

// /status of both kinds keeps all metadata but managedFields as it was.
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
