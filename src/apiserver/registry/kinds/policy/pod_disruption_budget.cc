// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/policy/v1.h"
#include "apiserver/registry/kinds/apps/int_or_percent.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/policy/strategies.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/conditions.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"

namespace cox::apiserver {
namespace {

using policy::v1::PodDisruptionBudget;
using policy::v1::PodDisruptionBudgetSpec;
using policy::v1::PodDisruptionBudgetStatus;

FieldErrorList ValidateSpec(const PodDisruptionBudgetSpec& spec) {
  FieldPath path("spec");
  FieldErrorList errors;
  if (spec.minAvailable && spec.maxUnavailable) {
    errors.push_back(FieldError::Invalid(path, InternalValue(spec),
                                         "minAvailable and maxUnavailable cannot be both set"));
  }
  auto check = [&](std::string_view name, const std::optional<IntOrString>& value) {
    if (!value) return;
    Append(errors, ValidatePositiveIntOrPercent(*value, path.Child(name)));
    Append(errors, ValidateNotMoreThan100Percent(*value, path.Child(name)));
  };
  check("minAvailable", spec.minAvailable);
  check("maxUnavailable", spec.maxUnavailable);
  Append(errors, ValidateLabelSelector(spec.selector.get(), path.Child("selector")));
  if (spec.unhealthyPodEvictionPolicy &&
      *spec.unhealthyPodEvictionPolicy != policy::v1::kAlwaysAllow &&
      *spec.unhealthyPodEvictionPolicy != policy::v1::kIfHealthyBudget) {
    errors.push_back(FieldError::NotSupported(path.Child("unhealthyPodEvictionPolicy"),
                                              *spec.unhealthyPodEvictionPolicy,
                                              {"AlwaysAllow", "IfHealthyBudget"}));
  }
  return errors;
}

class PodDisruptionBudgetStatusStrategy final : public PlainStatusStrategy<PodDisruptionBudget> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const PodDisruptionBudget& object,
                             const PodDisruptionBudget&) const override {
    FieldPath path("status");
    const PodDisruptionBudgetStatus& status = object.status;
    FieldErrorList errors = ValidateConditions(status.conditions, path.Child("conditions"));
    Append(errors, ValidateCounters({{"disruptionsAllowed", status.disruptionsAllowed},
                                     {"currentHealthy", status.currentHealthy},
                                     {"desiredHealthy", status.desiredHealthy},
                                     {"expectedPods", status.expectedPods}},
                                    path));
    return errors;
  }
};

class PodDisruptionBudgetStrategy final
    : public SpecAndStatusStrategy<PodDisruptionBudget, PodDisruptionBudgetStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "poddisruptionbudgets"; }

  // The controller and evictions update the status concurrently: each update must be conditional.
  bool AllowUnconditionalUpdate() const override { return false; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Min Available", .type = "string"},
        {.name = "Max Unavailable", .type = "string"},
        {.name = "Allowed Disruptions", .type = "integer"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const PodDisruptionBudget& object) const override {
    return ValidateSpec(object.spec);
  }

  Cells RowOf(const PodDisruptionBudget& object, const Time& now) const override {
    auto text = [](const std::optional<IntOrString>& value) {
      return value ? value->ToString() : "N/A";
    };
    return {object.metadata.name, text(object.spec.minAvailable), text(object.spec.maxUnavailable),
            object.status.disruptionsAllowed, Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewPodDisruptionBudgetStrategy() {
  return std::make_unique<PodDisruptionBudgetStrategy>();
}

}  // namespace cox::apiserver
