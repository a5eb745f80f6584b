// SPDX-License-Identifier: Apache-2.0
// ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding.
#include <algorithm>
#include <set>
#include <type_traits>

#include "apiserver/registry/kinds/admissionregistration/rules.h"
#include "apiserver/registry/kinds/admissionregistration/strategies.h"
#include "apiserver/registry/validation/field_messages.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::MutatingAdmissionPolicyBinding;
using admissionregistration::v1::ValidatingAdmissionPolicyBinding;

void CheckActions(const List<std::string>& actions, const FieldPath& path, FieldErrorList* errors) {
  if (actions.empty()) {
    errors->push_back(FieldError::Required(path, "at least one validation action is required"));
    return;
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < actions.size(); ++i) {
    CheckSupported(actions[i], {"Audit", "Deny", "Warn"}, path.Index(i), errors);
    if (!seen.insert(actions[i]).second) {
      errors->push_back(FieldError::Duplicate(path.Index(i), actions[i]));
    }
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    errors->push_back(FieldError::Invalid(
        path, actions,
        "must not contain both Deny and Warn (repeating the same validation failure information in "
        "the API response and headers serves no purpose)"));
  }
}

template <class Binding>
class PolicyBindingStrategy final : public StrategyOf<Binding> {
 public:
  std::string_view storage_prefix() const override { return Binding::kKind.plural; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "PolicyName", .type = "string"},
                                          {.name = "ParamRef", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(Binding& object) const override {
    if (object.spec.matchResources) DefaultMatchResources(*object.spec.matchResources);
  }
  void PrepareCreate(const WriteContext&, Binding& object) const override {
    object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, Binding& object, const Binding& old) const override {
    const bool same = DeepEqual(object.spec, old.spec);
    object.metadata.generation = old.metadata.generation + (same ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const Binding& object) const override {
    FieldErrorList errors;
    const FieldPath path("spec");
    const auto& spec = object.spec;
    if (spec.policyName.empty()) {
      errors.push_back(FieldError::Required(path.Child("policyName")));
    } else {
      AppendInvalid(errors, path.Child("policyName"), spec.policyName,
                    validation::NameIsDNSSubdomain(spec.policyName, false));
    }
    if (spec.paramRef) Append(errors, ValidateParamRef(*spec.paramRef, path.Child("paramRef")));
    if (spec.matchResources) {
      Append(errors, ValidateMatchResources(*spec.matchResources, path.Child("matchResources")));
    }
    if constexpr (std::is_same_v<Binding, ValidatingAdmissionPolicyBinding>) {
      CheckActions(spec.validationActions, path.Child("validationActions"), &errors);
    }
    return errors;
  }
  Cells RowOf(const Binding& object, const Time& now) const override {
    return {object.metadata.name, object.spec.policyName, ParamRefCell(object.spec.paramRef.get()),
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewValidatingAdmissionPolicyBindingStrategy() {
  return std::make_unique<PolicyBindingStrategy<ValidatingAdmissionPolicyBinding>>();
}
StrategyPtr NewMutatingAdmissionPolicyBindingStrategy() {
  return std::make_unique<PolicyBindingStrategy<MutatingAdmissionPolicyBinding>>();
}

}  // namespace cox::apiserver
