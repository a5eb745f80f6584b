// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::FlowSchema;
using flowcontrol::v1::FlowSchemaSpec;

constexpr int32_t kDefaultPrecedence = 1000, kMaxPrecedence = 10000;
constexpr std::string_view kExempt = "exempt", kCatchAll = "catch-all";

FieldErrorList CheckSpec(const FlowSchemaSpec& spec, std::string_view name) {
  FieldErrorList errors;
  FieldPath path("spec");
  FieldPath precedence = path.Child("matchingPrecedence");
  if (spec.matchingPrecedence <= 0) {
    errors.push_back(
        FieldError::Invalid(precedence, spec.matchingPrecedence, "must be a positive value"));
  }
  if (spec.matchingPrecedence > kMaxPrecedence) {
    errors.push_back(
        FieldError::Invalid(precedence, spec.matchingPrecedence,
                            "must not be greater than " + std::to_string(kMaxPrecedence)));
  }
  if (spec.matchingPrecedence == 1 && name != kExempt) {
    errors.push_back(
        FieldError::Invalid(precedence, spec.matchingPrecedence,
                            "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  if (spec.distinguisherMethod && spec.distinguisherMethod->type != "ByUser" &&
      spec.distinguisherMethod->type != "ByNamespace") {
    errors.push_back(FieldError::NotSupported(path.Child("distinguisherMethod").Child("type"),
                                              InternalValue(*spec.distinguisherMethod),
                                              {"ByNamespace", "ByUser"}));
  }
  FieldPath level = path.Child("priorityLevelConfiguration").Child("name");
  const std::string& level_name = spec.priorityLevelConfiguration.name;
  if (level_name.empty()) {
    errors.push_back(FieldError::Required(level, "must reference a priority level"));
  } else {
    AppendInvalid(errors, level, level_name, validation::NameIsDNSSubdomain(level_name, false));
  }
  for (size_t i = 0; i < spec.rules.size(); ++i) {
    Append(errors, ValidateFlowSchemaRule(spec.rules[i], path.Child("rules").Index(i)));
  }
  return errors;
}

FieldErrorList CheckSchema(const FlowSchema& schema) {
  FieldErrorList errors = CheckSpec(schema.spec, schema.metadata.name);
  if (const FlowSchemaSpec* fixed = MandatoryFlowSchema(schema.metadata.name)) {
    if (!DeepEqual(*fixed, schema.spec)) {
      errors.push_back(
          FieldError::Invalid(FieldPath("spec"), InternalValue(schema.spec),
                              "spec of '" + schema.metadata.name + "' must equal the fixed value"));
    }
  }
  Append(errors, ValidateFlowConditions(schema.status.conditions));
  return errors;
}

class StatusStrategy final : public FlowStatusStrategy<FlowSchema> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const FlowSchema& schema,
                             const FlowSchema&) const override {
    return ValidateFlowConditions(schema.status.conditions);
  }
};

class FlowSchemaStrategy final : public SpecAndStatusStrategy<FlowSchema, StatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "flowschemas"; }
  bool AllowUnconditionalUpdate() const override { return false; }
  // Rows are in the order in which requests are matched.
  bool SortsRows() const override { return true; }
  bool RowBefore(const Object& a, const Object& b) const override {
    const auto& left = *a.As<FlowSchema>();
    const auto& right = *b.As<FlowSchema>();
    return left.spec.matchingPrecedence != right.spec.matchingPrecedence
               ? left.spec.matchingPrecedence < right.spec.matchingPrecedence
               : left.metadata.name < right.metadata.name;
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "PriorityLevel", .type = "string"},
        {.name = "MatchingPrecedence", .type = "string"},
        {.name = "DistinguisherMethod", .type = "string"},
        kAgeColumn,
        {.name = "MissingPL", .type = "string"},
    };
    return kColumns;
  }

 protected:
  void Default(FlowSchema& schema) const override {
    if (schema.spec.matchingPrecedence == 0) schema.spec.matchingPrecedence = kDefaultPrecedence;
  }
  FieldErrorList Check(const WriteContext&, const FlowSchema& schema) const override {
    return CheckSchema(schema);
  }
  Cells RowOf(const FlowSchema& schema, const Time& now) const override {
    std::string distinguisher = "<none>", missing = "?";
    if (schema.spec.distinguisherMethod) distinguisher = schema.spec.distinguisherMethod->type;
    for (const auto& condition : schema.status.conditions) {
      if (condition.type == "Dangling") missing = condition.status;
    }
    return {schema.metadata.name,
            schema.spec.priorityLevelConfiguration.name,
            static_cast<int64_t>(schema.spec.matchingPrecedence),
            distinguisher,
            Age(schema.metadata.creationTimestamp, now),
            missing};
  }
};

// Matches all requests of these groups.
flowcontrol::v1::PolicyRulesWithSubjects Everything(List<std::string> groups) {
  flowcontrol::v1::PolicyRulesWithSubjects rule;
  for (std::string& group : groups) {
    rule.subjects.push_back(
        {.kind = "Group", .group = flowcontrol::v1::GroupSubject{.name = std::move(group)}});
  }
  rule.resourceRules.push_back({.verbs = {"*"},
                                .apiGroups = {"*"},
                                .resources = {"*"},
                                .clusterScope = true,
                                .namespaces = {"*"}});
  rule.nonResourceRules.push_back({.verbs = {"*"}, .nonResourceURLs = {"*"}});
  return rule;
}

}  // namespace

const FlowSchemaSpec* MandatoryFlowSchema(std::string_view name) {
  static const FlowSchemaSpec kExemptSpec = {
      .priorityLevelConfiguration = {.name = std::string(kExempt)},
      .matchingPrecedence = 1,
      .rules = {Everything({"system:masters"})},
  };
  static const FlowSchemaSpec kCatchAllSpec = {
      .priorityLevelConfiguration = {.name = std::string(kCatchAll)},
      .matchingPrecedence = kMaxPrecedence,
      .distinguisherMethod = flowcontrol::v1::FlowDistinguisherMethod{.type = "ByUser"},
      .rules = {Everything({"system:unauthenticated", "system:authenticated"})},
  };
  if (name == kExempt) return &kExemptSpec;
  if (name == kCatchAll) return &kCatchAllSpec;
  return nullptr;
}

StrategyPtr NewFlowSchemaStrategy() { return std::make_unique<FlowSchemaStrategy>(); }

}  // namespace cox::apiserver
