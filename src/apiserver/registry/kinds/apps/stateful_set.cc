// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "api/apps/v1.h"
#include "apiserver/registry/kinds/apps/int_or_percent.h"
#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/core/volume/claim_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"
#include "object/validation/names.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using apps::v1::StatefulSet;
using apps::v1::StatefulSetSpec;
using apps::v1::StatefulSetStatus;
using apps::v1::StatefulSetUpdateStrategy;
using RetentionPolicy = apps::v1::StatefulSetPersistentVolumeClaimRetentionPolicy;

constexpr int32_t kDefaultRevisionHistoryLimit = 10;

void SetSpecDefaults(StatefulSetSpec& spec) {
  if (spec.podManagementPolicy.empty()) {
    spec.podManagementPolicy = apps::v1::kOrderedReadyPodManagement;
  }
  if (spec.updateStrategy.type.empty()) {
    spec.updateStrategy.type = apps::v1::kRollingUpdateStatefulSetStrategyType;
  }
  if (spec.updateStrategy.type == apps::v1::kRollingUpdateStatefulSetStrategyType) {
    std::optional<int32_t>& partition = spec.updateStrategy.rollingUpdate.ensure().partition;
    if (!partition) partition = 0;
  }
  RetentionPolicy& retention = spec.persistentVolumeClaimRetentionPolicy.ensure();
  for (std::string* policy : {&retention.whenDeleted, &retention.whenScaled}) {
    if (policy->empty()) *policy = apps::v1::kRetainPersistentVolumeClaimRetentionPolicyType;
  }
  if (!spec.replicas) spec.replicas = 1;
  if (!spec.revisionHistoryLimit) spec.revisionHistoryLimit = kDefaultRevisionHistoryLimit;
  SetPodTemplateDefaults(spec.template_);
  // The defaults of PersistentVolumeClaims.
  for (core::v1::PersistentVolumeClaim& claim : spec.volumeClaimTemplates) {
    if (!claim.spec.volumeMode) claim.spec.volumeMode = core::v1::kPersistentVolumeFilesystem;
    if (claim.status.phase.empty()) claim.status.phase = core::v1::kClaimPending;
  }
}

bool UsesMaxUnavailable(const StatefulSetSpec& spec) {
  return spec.updateStrategy.rollingUpdate && spec.updateStrategy.rollingUpdate->maxUnavailable;
}

// The feature gate MaxUnavailableStatefulSet is off: the field is kept only if it is already
// stored.
void DropMaxUnavailable(StatefulSetSpec& spec, const StatefulSetSpec* old) {
  if (old != nullptr && UsesMaxUnavailable(*old)) return;
  if (spec.updateStrategy.rollingUpdate) spec.updateStrategy.rollingUpdate->maxUnavailable.reset();
}

FieldErrorList ValidatePodManagementPolicy(const std::string& policy, const FieldPath& path) {
  if (policy.empty()) return {FieldError::Required(path)};
  if (policy == apps::v1::kOrderedReadyPodManagement ||
      policy == apps::v1::kParallelPodManagement) {
    return {};
  }
  return {FieldError::Invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")};
}

FieldErrorList ValidateRollingUpdate(const apps::v1::RollingUpdateStatefulSetStrategy& rolling,
                                     const FieldPath& path) {
  FieldErrorList errors =
      validation::ValidateNonnegativeField(rolling.partition.value_or(0), path.Child("partition"));
  if (!rolling.maxUnavailable) return errors;
  const IntOrString& unavailable = *rolling.maxUnavailable;
  FieldPath unavailable_path = path.Child("maxUnavailable");
  Append(errors, ValidatePositiveIntOrPercent(unavailable, unavailable_path));
  if (IntOrPercentValue(unavailable) == 0) {
    errors.push_back(FieldError::Invalid(unavailable_path, ValueOf(unavailable), "cannot be 0"));
  }
  Append(errors, ValidateNotMoreThan100Percent(unavailable, unavailable_path));
  return errors;
}

FieldErrorList ValidateUpdateStrategy(const StatefulSetUpdateStrategy& strategy,
                                      const FieldPath& path) {
  FieldPath rolling = path.Child("rollingUpdate");
  if (strategy.type.empty()) return {FieldError::Required(path)};
  if (strategy.type == apps::v1::kOnDeleteStatefulSetStrategyType) {
    if (!strategy.rollingUpdate) return {};
    return {FieldError::Invalid(rolling, InternalValue(*strategy.rollingUpdate),
                                "only allowed for updateStrategy 'RollingUpdate'")};
  }
  if (strategy.type == apps::v1::kRollingUpdateStatefulSetStrategyType) {
    if (!strategy.rollingUpdate) return {};
    return ValidateRollingUpdate(*strategy.rollingUpdate, rolling);
  }
  return {
      FieldError::Invalid(path, InternalValue(strategy), "must be 'RollingUpdate' or 'OnDelete'")};
}

FieldErrorList ValidateRetentionPolicy(const Box<RetentionPolicy>& policy, const FieldPath& path) {
  if (!policy) return {};
  FieldErrorList errors;
  auto check = [&](std::string_view name, const std::string& value) {
    if (value == apps::v1::kRetainPersistentVolumeClaimRetentionPolicyType ||
        value == apps::v1::kDeletePersistentVolumeClaimRetentionPolicyType) {
      return;
    }
    errors.push_back(FieldError::NotSupported(path.Child(name), value, {"Retain", "Delete"}));
  };
  check("whenDeleted", policy->whenDeleted);
  check("whenScaled", policy->whenScaled);
  return errors;
}

// The template with a volume for each claim template, as the pods have it.
core::v1::PodTemplateSpec WithClaimVolumes(const StatefulSetSpec& spec) {
  core::v1::PodTemplateSpec filled = spec.template_;
  List<core::v1::Volume>& volumes = filled.spec.volumes;
  for (const core::v1::PersistentVolumeClaim& claim : spec.volumeClaimTemplates) {
    const std::string& name = claim.metadata.name;
    // The claim replaces a volume of the template with the same name.
    erase_if(volumes, [&](const core::v1::Volume& volume) { return volume.name == name; });
    core::v1::Volume volume;
    volume.name = name;
    volume.volumeSource.persistentVolumeClaim.ensure().claimName =
        "claim";  // set by the controller
    volumes.push_back(std::move(volume));
  }
  return filled;
}

FieldErrorList ValidateTemplate(const StatefulSetSpec& spec, const StatefulSetSpec* old,
                                const FieldPath& path) {
  FieldPath template_path = path.Child("template");
  FieldErrorList errors;
  if (auto selector = labels::Selector::FromLabelSelector(spec.selector.get()); selector.ok()) {
    if (!selector->Empty()) {
      errors = ValidateTemplateLabels(*selector, spec.template_, template_path);
    }
    PodValidationOptions options =
        PodValidationOptionsFor(old == nullptr ? nullptr : &old->template_.spec);
    Append(errors, spec.volumeClaimTemplates.empty()
                       ? ValidatePodTemplateSpec(spec.template_, template_path, options)
                       : ValidatePodTemplateSpec(WithClaimVolumes(spec), template_path, options));
  } else {
    errors.push_back(FieldError::Invalid(path.Child("selector"), ValueOf(spec.selector), ""));
  }
  Append(errors, ValidateAlwaysRestartTemplate(spec.template_, template_path, "StatefulSet"));
  return errors;
}

FieldErrorList ValidateSpec(const StatefulSetSpec& spec, const StatefulSetSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors =
      ValidatePodManagementPolicy(spec.podManagementPolicy, path.Child("podManagementPolicy"));
  Append(errors, ValidateUpdateStrategy(spec.updateStrategy, path.Child("updateStrategy")));
  Append(errors, ValidateRetentionPolicy(spec.persistentVolumeClaimRetentionPolicy,
                                         path.Child("persistentVolumeClaimRetentionPolicy")));
  Append(errors,
         validation::ValidateNonnegativeField(spec.replicas.value_or(0), path.Child("replicas")));
  Append(errors,
         validation::ValidateNonnegativeField(spec.minReadySeconds, path.Child("minReadySeconds")));
  if (spec.ordinals) {
    Append(errors, validation::ValidateNonnegativeField(spec.ordinals->start,
                                                        path.Child("ordinals").Child("start")));
  }
  Append(errors, ValidateRequiredSelector(spec.selector, path.Child("selector"), "statefulset"));
  // A stored name may not be a DNS label, because earlier versions did not check it.
  if (!spec.serviceName.empty() && (old == nullptr || old->serviceName != spec.serviceName)) {
    for (std::string& message : validation::IsDNS1123Label(spec.serviceName)) {
      errors.push_back(
          FieldError::Invalid(path.Child("serviceName"), spec.serviceName, std::move(message)));
    }
  }
  Append(errors, ValidateTemplate(spec, old, path));
  // Claim templates are immutable, so stored ones are not validated again.
  if (old == nullptr) {
    for (size_t i = 0; i < spec.volumeClaimTemplates.size(); ++i) {
      Append(errors, ValidateClaimSpec(spec.volumeClaimTemplates[i].spec,
                                       path.Child("volumeClaimTemplates").Index(i).Child("spec")));
    }
  }
  return errors;
}

class StatefulSetStatusStrategy final : public PlainStatusStrategy<StatefulSet> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const StatefulSet& object,
                             const StatefulSet& old) const override {
    FieldPath path("status");
    const StatefulSetStatus& status = object.status;
    FieldErrorList errors = ValidateCounters({{"replicas", status.replicas},
                                              {"readyReplicas", status.readyReplicas},
                                              {"currentReplicas", status.currentReplicas},
                                              {"updatedReplicas", status.updatedReplicas},
                                              {"availableReplicas", status.availableReplicas},
                                              {"observedGeneration", status.observedGeneration}},
                                             path);
    Append(errors, ValidateCollisionCount(status.collisionCount, path));
    Append(errors, ValidateAtMost({{"readyReplicas", status.readyReplicas},
                                   {"currentReplicas", status.currentReplicas},
                                   {"updatedReplicas", status.updatedReplicas},
                                   {"availableReplicas", status.availableReplicas}},
                                  status.replicas, "status.replicas", path));
    Append(errors, ValidateAtMost({{"availableReplicas", status.availableReplicas}},
                                  status.readyReplicas, "status.readyReplicas", path));
    Append(errors,
           ValidateCollisionCountUpdate(status.collisionCount, old.status.collisionCount, path));
    return errors;
  }
};

class StatefulSetStrategy final
    : public SpecAndStatusStrategy<StatefulSet, StatefulSetStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "statefulsets"; }

  // Pods are named <name>-<ordinal>, which is also their host name.
  validation::NameRule name_rule() const override { return validation::NameIsDNSLabel; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,   {.name = "Ready", .type = "string"}, kAgeColumn, kContainersColumn,
        kImagesColumn,
    };
    return kColumns;
  }

 protected:
  void Default(StatefulSet& object) const override { SetSpecDefaults(object.spec); }

  void PrepareCreate(const WriteContext& w, StatefulSet& object) const override {
    SpecAndStatusStrategy::PrepareCreate(w, object);
    DropMaxUnavailable(object.spec, nullptr);
  }
  void PrepareUpdate(const WriteContext& w, StatefulSet& object,
                     const StatefulSet& old) const override {
    DropMaxUnavailable(object.spec, &old.spec);
    SpecAndStatusStrategy::PrepareUpdate(w, object, old);
  }

  FieldErrorList Check(const WriteContext&, const StatefulSet& object) const override {
    return ValidateSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const StatefulSet& object,
                             const StatefulSet& old) const override {
    FieldErrorList errors = ValidateSpec(object.spec, &old.spec);
    StatefulSetSpec spec = object.spec;
    spec.replicas = old.spec.replicas;
    spec.template_ = old.spec.template_;
    spec.updateStrategy = old.spec.updateStrategy;
    spec.minReadySeconds = old.spec.minReadySeconds;
    spec.ordinals = old.spec.ordinals;
    spec.revisionHistoryLimit = old.spec.revisionHistoryLimit;
    spec.persistentVolumeClaimRetentionPolicy = old.spec.persistentVolumeClaimRetentionPolicy;
    if (!DeepEqual(spec, old.spec)) {
      errors.push_back(FieldError::Forbidden(
          FieldPath("spec"),
          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
          "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
          "'minReadySeconds' are forbidden"));
    }
    return errors;
  }

  Warnings Warn(const WriteContext&, const StatefulSet& object,
                const StatefulSet* old) const override {
    Warnings warnings = WarnOnTemplate(object, old);
    const std::optional<int32_t>& limit = object.spec.revisionHistoryLimit;
    if (limit && *limit < 0) {
      warnings.push_back(
          "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value "
          ">= 0 is recommended");
    }
    return warnings;
  }

  Cells RowOf(const StatefulSet& object, const Time& now) const override {
    const core::v1::PodSpec& pod = object.spec.template_.spec;
    return {object.metadata.name,
            std::to_string(object.status.readyReplicas) + "/" +
                std::to_string(object.spec.replicas.value_or(0)),
            Age(object.metadata.creationTimestamp, now), ContainerNames(pod), ContainerImages(pod)};
  }
};

}  // namespace

StrategyPtr NewStatefulSetStrategy() { return std::make_unique<StatefulSetStrategy>(); }

}  // namespace cox::apiserver
