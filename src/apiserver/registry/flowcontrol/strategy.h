// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/flowcontrol/v1.h"
#include "apiserver/registry/strategy.h"

// The kinds of flowcontrol.apiserver.k8s.io: which requests wait for which others.
namespace cox::apiserver {

StrategyPtr NewFlowSchemaStrategy();
StrategyPtr NewPriorityLevelConfigurationStrategy();

// Who is matched by one rule of a FlowSchema, and what.
FieldErrorList ValidateFlowSchemaRule(const flowcontrol::v1::PolicyRulesWithSubjects& rule,
                                      const FieldPath& path);

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
