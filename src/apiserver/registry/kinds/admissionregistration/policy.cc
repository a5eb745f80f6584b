// SPDX-License-Identifier: Apache-2.0
// ValidatingAdmissionPolicy and MutatingAdmissionPolicy.
//
// Only the presence of expressions is checked here, not whether they compile.
#include <set>

#include "apiserver/registry/kinds/admissionregistration/rules.h"
#include "apiserver/registry/kinds/admissionregistration/strategies.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_messages.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::AuditAnnotation;
using admissionregistration::v1::MutatingAdmissionPolicy;
using admissionregistration::v1::Mutation;
using admissionregistration::v1::ValidatingAdmissionPolicy;
using admissionregistration::v1::Validation;
using admissionregistration::v1::Variable;

constexpr size_t kMaxAuditAnnotations = 20;
constexpr int64_t kMaxValueExpressionBytes = 5 << 10;

bool HasLineBreak(std::string_view text) { return text.find('\n') != std::string_view::npos; }

// Validates the fields that both kinds of policy have.
template <class Spec>
void CheckScope(const Spec& spec, const FieldPath& path, FieldErrorList* errors) {
  const FieldPath failure = path.Child("failurePolicy");
  if (!spec.failurePolicy || spec.failurePolicy->empty()) {
    errors->push_back(FieldError::Required(failure));
  } else {
    CheckSupported(*spec.failurePolicy, {"Fail", "Ignore"}, failure, errors);
  }
  if (spec.paramKind) {
    Append(*errors, ValidateParamKind(*spec.paramKind, path.Child("paramKind")));
  }
  const FieldPath match = path.Child("matchConstraints");
  if (!spec.matchConstraints) {
    errors->push_back(FieldError::Required(match));
  } else {
    Append(*errors, ValidateMatchResources(*spec.matchConstraints, match));
    // A policy without a rule would match nothing.
    if (spec.matchConstraints->resourceRules.empty()) {
      errors->push_back(FieldError::Required(match.Child("resourceRules")));
    }
  }
  Append(*errors, ValidateMatchConditions(spec.matchConditions, path.Child("matchConditions")));
}

void CheckVariables(const List<Variable>& variables, const FieldPath& path,
                    FieldErrorList* errors) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const FieldPath at = path.Index(i);
    if (TrimSpace(variable.name).empty()) {
      errors->push_back(FieldError::Required(at.Child("name"), "name is not specified"));
    } else if (!IsCelIdentifier(variable.name)) {
      errors->push_back(
          FieldError::Invalid(at.Child("name"), variable.name, "must be a valid CEL identifier"));
    } else if (!seen.insert(variable.name).second) {
      errors->push_back(FieldError::Duplicate(at.Child("name"), variable.name));
    }
    if (TrimSpace(variable.expression).empty()) {
      errors->push_back(
          FieldError::Required(at.Child("expression"), "expression is not specified"));
    }
  }
}

void CheckValidation(const Validation& validation, const FieldPath& path, FieldErrorList* errors) {
  const std::string_view expression = TrimSpace(validation.expression);
  if (expression.empty()) {
    errors->push_back(
        FieldError::Required(path.Child("expression"), "expression is not specified"));
  }
  const auto& message_expression = validation.messageExpression;
  if (!message_expression.empty() && TrimSpace(message_expression).empty()) {
    errors->push_back(FieldError::Invalid(path.Child("messageExpression"), message_expression,
                                          "must be non-empty if specified"));
  }
  const std::string_view message = TrimSpace(validation.message);
  const FieldPath at = path.Child("message");
  if (!validation.message.empty() && message.empty()) {
    errors->push_back(
        FieldError::Invalid(at, validation.message, "message must be non-empty if specified"));
  } else if (HasLineBreak(message)) {
    errors->push_back(FieldError::Invalid(at, validation.message, "must not contain line breaks"));
  } else if (HasLineBreak(expression) && message.empty()) {
    errors->push_back(
        FieldError::Required(at, "message must be specified if expression contains line breaks"));
  }
  if (validation.reason && !validation.reason->empty()) {
    CheckSupported(*validation.reason, {"Forbidden", "Invalid", "RequestEntityTooLarge"},
                   path.Child("reason"), errors);
  }
}

void CheckAuditAnnotations(const List<AuditAnnotation>& annotations, const std::string& policy,
                           const FieldPath& path, FieldErrorList* errors) {
  if (annotations.size() > kMaxAuditAnnotations) {
    errors->push_back(FieldError::Invalid(
        path, FieldValue::Json(std::to_string(annotations.size())),
        "must not have more than " + std::to_string(kMaxAuditAnnotations) + " auditAnnotations"));
    return;
  }
  std::set<std::string_view> keys;
  for (size_t i = 0; i < annotations.size(); ++i) {
    const AuditAnnotation& annotation = annotations[i];
    const FieldPath at = path.Index(i);
    // The key of the annotation in the audit event.
    const std::string name = policy + "/" + annotation.key;
    AppendInvalid(*errors, at.Child("key"), name, validation::IsQualifiedName(name));
    const FieldPath value = at.Child("valueExpression");
    if (TrimSpace(annotation.valueExpression).empty()) {
      errors->push_back(FieldError::Required(value, "valueExpression is not specified"));
    } else if (static_cast<int64_t>(annotation.valueExpression.size()) > kMaxValueExpressionBytes) {
      errors->push_back(FieldError::TooLong(value, kMaxValueExpressionBytes));
    }
    if (!keys.insert(annotation.key).second) {
      errors->push_back(FieldError::Duplicate(at.Child("key"), annotation.key));
    }
  }
}

class ValidatingPolicyStatusStrategy final : public PlainStatusStrategy<ValidatingAdmissionPolicy> {
};

class ValidatingPolicyStrategy final
    : public SpecAndStatusStrategy<ValidatingAdmissionPolicy, ValidatingPolicyStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return kind().plural; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "Validations", .type = "integer"},
                                          {.name = "ParamKind", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(ValidatingAdmissionPolicy& object) const override {
    if (!object.spec.failurePolicy) object.spec.failurePolicy = "Fail";
    if (object.spec.matchConstraints) DefaultMatchResources(*object.spec.matchConstraints);
  }
  FieldErrorList Check(const WriteContext&,
                       const ValidatingAdmissionPolicy& object) const override {
    FieldErrorList errors;
    const FieldPath path("spec");
    const auto& spec = object.spec;
    CheckScope(spec, path, &errors);
    CheckVariables(spec.variables, path.Child("variables"), &errors);
    if (spec.validations.empty() && spec.auditAnnotations.empty()) {
      for (const char* field : {"validations", "auditAnnotations"}) {
        errors.push_back(FieldError::Required(
            path.Child(field), "validations or auditAnnotations must contain at least one item"));
      }
      return errors;
    }
    for (size_t i = 0; i < spec.validations.size(); ++i) {
      CheckValidation(spec.validations[i], path.Child("validations").Index(i), &errors);
    }
    CheckAuditAnnotations(spec.auditAnnotations, object.metadata.name,
                          path.Child("auditAnnotations"), &errors);
    return errors;
  }
  Cells RowOf(const ValidatingAdmissionPolicy& object, const Time& now) const override {
    return {object.metadata.name, static_cast<int64_t>(object.spec.validations.size()),
            ParamKindCell(object.spec.paramKind.get()),
            Age(object.metadata.creationTimestamp, now)};
  }
};

void CheckMutation(const Mutation& mutation, const FieldPath& path, FieldErrorList* errors) {
  const FieldPath type = path.Child("patchType");
  const bool apply = mutation.patchType == "ApplyConfiguration";
  const bool patch = mutation.patchType == "JSONPatch";
  if (mutation.patchType.empty()) {
    errors->push_back(FieldError::Required(type));
  } else if (!apply && !patch) {
    CheckSupported(mutation.patchType, {"ApplyConfiguration", "JSONPatch"}, type, errors);
  }
  // The field for the patch type is required, and the other one is forbidden.
  auto check = [&](bool wanted, bool present, const std::string* expression, const char* field) {
    const FieldPath at = path.Child(field);
    const std::string kind = wanted ? mutation.patchType : "";
    if (wanted && !present) {
      errors->push_back(FieldError::Required(at, "must be specified when patchType is " + kind));
    } else if (!wanted && present && (apply || patch)) {
      errors->push_back(FieldError::Invalid(
          at, FieldValue::Omit(), "must not be specified when patchType is " + mutation.patchType));
    } else if (wanted && TrimSpace(*expression).empty()) {
      errors->push_back(
          FieldError::Required(at.Child("expression"), "expression is not specified"));
    }
  };
  check(apply, mutation.applyConfiguration.has_value(),
        mutation.applyConfiguration ? &mutation.applyConfiguration->expression : nullptr,
        "applyConfiguration");
  check(patch, mutation.jsonPatch.has_value(),
        mutation.jsonPatch ? &mutation.jsonPatch->expression : nullptr, "jsonPatch");
}

class MutatingPolicyStrategy final : public StrategyOf<MutatingAdmissionPolicy> {
 public:
  std::string_view storage_prefix() const override { return kind().plural; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "Mutations", .type = "integer"},
                                          {.name = "ParamKind", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(MutatingAdmissionPolicy& object) const override {
    if (!object.spec.failurePolicy) object.spec.failurePolicy = "Fail";
    if (object.spec.matchConstraints) DefaultMatchResources(*object.spec.matchConstraints);
  }
  void PrepareCreate(const WriteContext&, MutatingAdmissionPolicy& object) const override {
    object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, MutatingAdmissionPolicy& object,
                     const MutatingAdmissionPolicy& old) const override {
    const bool same = DeepEqual(object.spec, old.spec);
    object.metadata.generation = old.metadata.generation + (same ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const MutatingAdmissionPolicy& object) const override {
    FieldErrorList errors;
    const FieldPath path("spec");
    const auto& spec = object.spec;
    CheckScope(spec, path, &errors);
    CheckVariables(spec.variables, path.Child("variables"), &errors);
    const FieldPath mutations = path.Child("mutations");
    if (spec.mutations.empty()) {
      errors.push_back(FieldError::Required(mutations, "mutations must contain at least one item"));
    }
    for (size_t i = 0; i < spec.mutations.size(); ++i) {
      CheckMutation(spec.mutations[i], mutations.Index(i), &errors);
    }
    const FieldPath reinvocation = path.Child("reinvocationPolicy");
    if (spec.reinvocationPolicy.empty()) {
      errors.push_back(FieldError::Required(reinvocation));
    } else {
      CheckSupported(spec.reinvocationPolicy, {"IfNeeded", "Never"}, reinvocation, &errors);
    }
    return errors;
  }
  Cells RowOf(const MutatingAdmissionPolicy& object, const Time& now) const override {
    return {object.metadata.name, static_cast<int64_t>(object.spec.mutations.size()),
            ParamKindCell(object.spec.paramKind.get()),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewValidatingAdmissionPolicyStrategy() {
  return std::make_unique<ValidatingPolicyStrategy>();
}
StrategyPtr NewMutatingAdmissionPolicyStrategy() {
  return std::make_unique<MutatingPolicyStrategy>();
}

}  // namespace cox::apiserver
