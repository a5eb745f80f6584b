// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "api/apps/v1.h"
#include "apiserver/registry/kinds/apps/int_or_percent.h"
#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentSpec;
using apps::v1::DeploymentStatus;

constexpr int32_t kDefaultRevisionHistoryLimit = 10;
constexpr int32_t kDefaultProgressDeadlineSeconds = 600;

void SetSpecDefaults(DeploymentSpec& spec) {
  if (!spec.replicas) spec.replicas = 1;
  if (spec.strategy.type.empty()) {
    spec.strategy.type = apps::v1::kRollingUpdateDeploymentStrategyType;
  }
  if (spec.strategy.type == apps::v1::kRollingUpdateDeploymentStrategyType) {
    apps::v1::RollingUpdateDeployment& rolling = spec.strategy.rollingUpdate.ensure();
    if (!rolling.maxUnavailable) rolling.maxUnavailable = IntOrString("25%");
    if (!rolling.maxSurge) rolling.maxSurge = IntOrString("25%");
  }
  if (!spec.revisionHistoryLimit) spec.revisionHistoryLimit = kDefaultRevisionHistoryLimit;
  if (!spec.progressDeadlineSeconds) {
    spec.progressDeadlineSeconds = kDefaultProgressDeadlineSeconds;
  }
  SetPodTemplateDefaults(spec.template_);
}

FieldErrorList ValidateRollingUpdate(const apps::v1::RollingUpdateDeployment& rolling,
                                     const FieldPath& path) {
  const IntOrString unavailable = rolling.maxUnavailable.value_or(0);
  const IntOrString surge = rolling.maxSurge.value_or(0);
  FieldErrorList errors = ValidatePositiveIntOrPercent(unavailable, path.Child("maxUnavailable"));
  Append(errors, ValidatePositiveIntOrPercent(surge, path.Child("maxSurge")));
  if (IntOrPercentValue(unavailable) == 0 && IntOrPercentValue(surge) == 0) {
    errors.push_back(FieldError::Invalid(path.Child("maxUnavailable"), ValueOf(unavailable),
                                         "may not be 0 when `maxSurge` is 0"));
  }
  Append(errors, ValidateNotMoreThan100Percent(unavailable, path.Child("maxUnavailable")));
  return errors;
}

FieldErrorList ValidateStrategy(const apps::v1::DeploymentStrategy& strategy,
                                const FieldPath& path) {
  FieldPath rolling = path.Child("rollingUpdate");
  if (strategy.type == apps::v1::kRecreateDeploymentStrategyType) {
    if (!strategy.rollingUpdate) return {};
    return {
        FieldError::Forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")};
  }
  if (strategy.type == apps::v1::kRollingUpdateDeploymentStrategyType) {
    if (!strategy.rollingUpdate) {
      return {FieldError::Required(rolling, "this should be defaulted and never be nil")};
    }
    return ValidateRollingUpdate(*strategy.rollingUpdate, rolling);
  }
  return {FieldError::NotSupported(path, InternalValue(strategy), {"Recreate", "RollingUpdate"})};
}

FieldErrorList ValidateSpec(const DeploymentSpec& spec, const DeploymentSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors =
      validation::ValidateNonnegativeField(spec.replicas.value_or(0), path.Child("replicas"));
  Append(errors, ValidateRequiredSelector(spec.selector, path.Child("selector"), "deployment"));
  if (auto selector = labels::Selector::FromLabelSelector(spec.selector.get()); selector.ok()) {
    Append(errors, ValidateReplicaSetTemplate(*selector, spec.template_,
                                              old == nullptr ? nullptr : &old->template_,
                                              path.Child("template")));
  } else {
    errors.push_back(FieldError::Invalid(path.Child("selector"), ValueOf(spec.selector),
                                         "invalid label selector"));
  }
  Append(errors, ValidateStrategy(spec.strategy, path.Child("strategy")));
  Append(errors,
         validation::ValidateNonnegativeField(spec.minReadySeconds, path.Child("minReadySeconds")));
  Append(errors, validation::ValidateNonnegativeField(spec.revisionHistoryLimit.value_or(0),
                                                      path.Child("revisionHistoryLimit")));
  if (spec.progressDeadlineSeconds) {
    FieldPath deadline = path.Child("progressDeadlineSeconds");
    Append(errors, validation::ValidateNonnegativeField(*spec.progressDeadlineSeconds, deadline));
    if (*spec.progressDeadlineSeconds <= spec.minReadySeconds) {
      errors.push_back(FieldError::Invalid(deadline, *spec.progressDeadlineSeconds,
                                           "must be greater than minReadySeconds"));
    }
  }
  return errors;
}

FieldErrorList ValidateStatus(const DeploymentStatus& status, const FieldPath& path) {
  FieldErrorList errors =
      ValidateCounters({{"observedGeneration", status.observedGeneration},
                        {"replicas", status.replicas},
                        {"updatedReplicas", status.updatedReplicas},
                        {"readyReplicas", status.readyReplicas},
                        {"availableReplicas", status.availableReplicas},
                        {"unavailableReplicas", status.unavailableReplicas},
                        {"terminatingReplicas", status.terminatingReplicas.value_or(0)}},
                       path);
  Append(errors, ValidateCollisionCount(status.collisionCount, path));
  Append(errors, ValidateAtMost({{"updatedReplicas", status.updatedReplicas},
                                 {"readyReplicas", status.readyReplicas},
                                 {"availableReplicas", status.availableReplicas}},
                                status.replicas, "status.replicas", path));
  Append(errors, ValidateAtMost({{"availableReplicas", status.availableReplicas}},
                                status.readyReplicas, "readyReplicas", path));
  return errors;
}

class DeploymentStatusStrategy final : public UpdateStrategyOf<Deployment> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"spec", "metadata.labels"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Deployment& object,
                     const Deployment& old) const override {
    object.spec = old.spec;
    object.metadata.labels = old.metadata.labels;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Deployment& object,
                             const Deployment& old) const override {
    FieldPath path("status");
    FieldErrorList errors = ValidateStatus(object.status, path);
    Append(errors, ValidateCollisionCountUpdate(object.status.collisionCount,
                                                old.status.collisionCount, path));
    return errors;
  }
};

class DeploymentStrategy final
    : public SpecAndStatusStrategy<Deployment, DeploymentStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "deployments"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Ready", .type = "string"},
        {.name = "Up-to-date", .type = "string"},
        {.name = "Available", .type = "string"},
        kAgeColumn,
        kContainersColumn,
        kImagesColumn,
        kSelectorColumn,
    };
    return kColumns;
  }

 protected:
  void Default(Deployment& object) const override { SetSpecDefaults(object.spec); }

  void PrepareUpdate(const WriteContext& w, Deployment& object,
                     const Deployment& old) const override {
    SpecAndStatusStrategy::PrepareUpdate(w, object, old);
    // Annotations count too: the controller copies them to the ReplicaSets and must observe the
    // change.
    if (object.metadata.generation == old.metadata.generation &&
        object.metadata.annotations != old.metadata.annotations) {
      ++object.metadata.generation;
    }
  }

  FieldErrorList Check(const WriteContext&, const Deployment& object) const override {
    return ValidateSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Deployment& object,
                             const Deployment& old) const override {
    FieldErrorList errors = ValidateSpec(object.spec, &old.spec);
    Append(errors, ValidateSelectorKept(object.spec.selector, old.spec.selector));
    return errors;
  }

  Warnings Warn(const WriteContext&, const Deployment& object,
                const Deployment* old) const override {
    return WarnOnNameAndTemplate(object, old);
  }

  Cells RowOf(const Deployment& object, const Time& now) const override {
    const DeploymentStatus& status = object.status;
    const core::v1::PodSpec& pod = object.spec.template_.spec;
    return {object.metadata.name,
            std::to_string(status.readyReplicas) + "/" +
                std::to_string(object.spec.replicas.value_or(0)),
            status.updatedReplicas,
            status.availableReplicas,
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            SelectorText(object.spec.selector)};
  }
};

}  // namespace

StrategyPtr NewDeploymentStrategy() { return std::make_unique<DeploymentStrategy>(); }

}  // namespace cox::apiserver
