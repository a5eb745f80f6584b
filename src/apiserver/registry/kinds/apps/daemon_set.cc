// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>

#include "api/apps/v1.h"
#include "apiserver/registry/kinds/apps/int_or_percent.h"
#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using apps::v1::DaemonSet;
using apps::v1::DaemonSetSpec;
using apps::v1::DaemonSetStatus;
using apps::v1::DaemonSetUpdateStrategy;

constexpr int32_t kDefaultRevisionHistoryLimit = 10;

// 0 if the annotation is absent or not a number.
int64_t TemplateGeneration(const DaemonSet& object) {
  const std::string* text = object.metadata.annotations.Get(kDaemonSetTemplateGeneration);
  int64_t generation = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), generation);
  return generation;
}

void SetTemplateGeneration(DaemonSet& object, int64_t generation) {
  object.metadata.annotations[kDaemonSetTemplateGeneration] = std::to_string(generation);
}

FieldErrorList ValidateRollingUpdate(const apps::v1::RollingUpdateDaemonSet& rolling,
                                     const FieldPath& path) {
  const IntOrString unavailable = rolling.maxUnavailable.value_or(0);
  const IntOrString surge = rolling.maxSurge.value_or(0);
  FieldPath unavailable_path = path.Child("maxUnavailable");
  FieldPath surge_path = path.Child("maxSurge");
  FieldErrorList errors = ValidatePositiveIntOrPercent(unavailable, unavailable_path);
  Append(errors, ValidatePositiveIntOrPercent(surge, surge_path));
  Append(errors, ValidateNotMoreThan100Percent(unavailable, unavailable_path));
  Append(errors, ValidateNotMoreThan100Percent(surge, surge_path));
  // A rolling update either surges or makes nodes unavailable, not both.
  bool has_unavailable = IntOrPercentValue(unavailable) != 0;
  bool has_surge = IntOrPercentValue(surge) != 0;
  if (has_unavailable && has_surge) {
    errors.push_back(FieldError::Invalid(surge_path, ValueOf(surge),
                                         "may not be set when maxUnavailable is non-zero"));
  } else if (!has_unavailable && !has_surge) {
    errors.push_back(FieldError::Required(unavailable_path, "cannot be 0 when maxSurge is 0"));
  }
  return errors;
}

FieldErrorList ValidateUpdateStrategy(const DaemonSetUpdateStrategy& strategy,
                                      const FieldPath& path) {
  if (strategy.type == apps::v1::kOnDeleteDaemonSetStrategyType) return {};
  if (strategy.type == apps::v1::kRollingUpdateDaemonSetStrategyType) {
    FieldPath rolling = path.Child("rollingUpdate");
    if (!strategy.rollingUpdate) return {FieldError::Required(rolling)};
    return ValidateRollingUpdate(*strategy.rollingUpdate, rolling);
  }
  return {FieldError::NotSupported(path, InternalValue(strategy), {"RollingUpdate", "OnDelete"})};
}

FieldErrorList ValidateSpec(const DaemonSetSpec& spec, const DaemonSetSpec* old) {
  FieldPath path("spec");
  FieldPath selector_path = path.Child("selector");
  FieldPath template_path = path.Child("template");
  FieldErrorList errors = ValidateLabelSelector(spec.selector.get(), selector_path);
  if (auto selector = labels::Selector::FromLabelSelector(spec.selector.get()); selector.ok()) {
    Append(errors, ValidateTemplateLabels(*selector, spec.template_, template_path));
  }
  if (spec.selector && IsEmptySelector(*spec.selector)) {
    errors.push_back(FieldError::Invalid(selector_path, ValueOf(spec.selector),
                                         "empty selector is invalid for daemonset"));
  }
  Append(errors, ValidatePodTemplateSpec(
                     spec.template_, template_path,
                     PodValidationOptionsFor(old == nullptr ? nullptr : &old->template_.spec)));
  Append(errors, ValidateAlwaysRestartTemplate(spec.template_, template_path, "DaemonSet"));
  Append(errors, ValidateUpdateStrategy(spec.updateStrategy, path.Child("updateStrategy")));
  Append(errors,
         validation::ValidateNonnegativeField(spec.minReadySeconds, path.Child("minReadySeconds")));
  Append(errors, validation::ValidateNonnegativeField(spec.revisionHistoryLimit.value_or(0),
                                                      path.Child("revisionHistoryLimit")));
  return errors;
}

class DaemonSetStatusStrategy final : public PlainStatusStrategy<DaemonSet> {
 protected:
  void PrepareUpdate(const WriteContext& w, DaemonSet& object,
                     const DaemonSet& old) const override {
    PlainStatusStrategy::PrepareUpdate(w, object, old);
    // The annotation is part of the spec: status updates must not change it.
    SetTemplateGeneration(object, TemplateGeneration(old));
  }
  FieldErrorList CheckUpdate(const WriteContext&, const DaemonSet& object,
                             const DaemonSet& old) const override {
    FieldPath path("status");
    const DaemonSetStatus& status = object.status;
    FieldErrorList errors =
        ValidateCounters({{"currentNumberScheduled", status.currentNumberScheduled},
                          {"numberMisscheduled", status.numberMisscheduled},
                          {"desiredNumberScheduled", status.desiredNumberScheduled},
                          {"numberReady", status.numberReady},
                          {"observedGeneration", status.observedGeneration},
                          {"updatedNumberScheduled", status.updatedNumberScheduled},
                          {"numberAvailable", status.numberAvailable},
                          {"numberUnavailable", status.numberUnavailable}},
                         path);
    Append(errors, ValidateCollisionCount(status.collisionCount, path));
    Append(errors,
           ValidateCollisionCountUpdate(status.collisionCount, old.status.collisionCount, path));
    return errors;
  }
};

class DaemonSetStrategy final : public SpecAndStatusStrategy<DaemonSet, DaemonSetStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "daemonsets"; }

  // The annotation stands for a field of the spec that apps/v1 does not have.
  void TrimPartialMetadata(meta::v1::ObjectMeta& meta) const override {
    meta.annotations.erase(kDaemonSetTemplateGeneration);
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Desired", .type = "integer"},
        {.name = "Current", .type = "integer"},
        {.name = "Ready", .type = "integer"},
        {.name = "Up-to-date", .type = "integer"},
        {.name = "Available", .type = "integer"},
        {.name = "Node Selector", .type = "string"},
        kAgeColumn,
        kContainersColumn,
        kImagesColumn,
        kSelectorColumn,
    };
    return kColumns;
  }

 protected:
  void Default(DaemonSet& object) const override {
    DaemonSetSpec& spec = object.spec;
    if (spec.updateStrategy.type.empty()) {
      spec.updateStrategy.type = apps::v1::kRollingUpdateDaemonSetStrategyType;
    }
    if (spec.updateStrategy.type == apps::v1::kRollingUpdateDaemonSetStrategyType) {
      apps::v1::RollingUpdateDaemonSet& rolling = spec.updateStrategy.rollingUpdate.ensure();
      if (!rolling.maxUnavailable) rolling.maxUnavailable = IntOrString(1);
      if (!rolling.maxSurge) rolling.maxSurge = IntOrString(0);
    }
    if (!spec.revisionHistoryLimit) spec.revisionHistoryLimit = kDefaultRevisionHistoryLimit;
    SetPodTemplateDefaults(spec.template_);
    SetTemplateGeneration(object, TemplateGeneration(object));
  }

  void PrepareCreate(const WriteContext& w, DaemonSet& object) const override {
    SpecAndStatusStrategy::PrepareCreate(w, object);
    SetTemplateGeneration(object, std::max<int64_t>(TemplateGeneration(object), 1));
  }
  void PrepareUpdate(const WriteContext& w, DaemonSet& object,
                     const DaemonSet& old) const override {
    SpecAndStatusStrategy::PrepareUpdate(w, object, old);
    bool changed = !DeepEqual(object.spec.template_, old.spec.template_);
    SetTemplateGeneration(object, TemplateGeneration(old) + (changed ? 1 : 0));
  }

  FieldErrorList Check(const WriteContext&, const DaemonSet& object) const override {
    return ValidateSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const DaemonSet& object,
                             const DaemonSet& old) const override {
    FieldErrorList errors = ValidateSpec(object.spec, &old.spec);
    Append(errors, ValidateSelectorKept(object.spec.selector, old.spec.selector));
    return errors;
  }

  Warnings Warn(const WriteContext&, const DaemonSet& object, const DaemonSet* old) const override {
    return WarnOnTemplate(object, old);
  }

  Cells RowOf(const DaemonSet& object, const Time& now) const override {
    const DaemonSetStatus& status = object.status;
    const core::v1::PodSpec& pod = object.spec.template_.spec;
    return {object.metadata.name,
            status.desiredNumberScheduled,
            status.currentNumberScheduled,
            status.numberReady,
            status.updatedNumberScheduled,
            status.numberAvailable,
            LabelsText(pod.nodeSelector),
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            SelectorText(object.spec.selector)};
  }
};

}  // namespace

StrategyPtr NewDaemonSetStrategy() { return std::make_unique<DaemonSetStrategy>(); }

}  // namespace cox::apiserver
