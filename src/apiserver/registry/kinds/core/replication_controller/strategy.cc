// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/replication_controller/strategy.h"

#include <string>
#include <utility>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using core::v1::ReplicationController;
using core::v1::ReplicationControllerSpec;
using core::v1::ReplicationControllerStatus;

FieldErrorList ValidateTemplate(const ReplicationControllerSpec& spec,
                                const ReplicationControllerSpec* old, const FieldPath& path) {
  if (!spec.template_) return {FieldError::Required(path)};
  const core::v1::PodTemplateSpec& pod_template = *spec.template_;
  FieldErrorList errors;
  // A missing selector is already reported.
  if (!spec.selector.empty()) {
    std::vector<std::pair<std::string, std::string>> labels;
    for (const auto& [key, value] : spec.selector) labels.emplace_back(key, value);
    errors = ValidateTemplateLabels(labels::Selector::FromSet(labels), pod_template, path);
  }
  const core::v1::PodSpec* old_pod =
      old != nullptr && old->template_ ? &old->template_->spec : nullptr;
  Append(errors, ValidatePodTemplateSpec(pod_template, path, PodValidationOptionsFor(old_pod)));
  Append(errors, ValidateAlwaysRestartTemplate(pod_template, path, "ReplicationController"));
  return errors;
}

FieldErrorList ValidateSpec(const ReplicationControllerSpec& spec,
                            const ReplicationControllerSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors =
      validation::ValidateNonnegativeField(spec.minReadySeconds, path.Child("minReadySeconds"));
  if (spec.selector.empty()) errors.push_back(FieldError::Required(path.Child("selector")));
  Append(errors,
         validation::ValidateNonnegativeField(spec.replicas.value_or(0), path.Child("replicas")));
  Append(errors, ValidateTemplate(spec, old, path.Child("template")));
  return errors;
}

class ReplicationControllerStatusStrategy final
    : public PlainStatusStrategy<ReplicationController> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const ReplicationController& object,
                             const ReplicationController&) const override {
    return ValidateReplicaStatus(object.status);
  }
};

class ReplicationControllerStrategy final
    : public SpecAndStatusStrategy<ReplicationController, ReplicationControllerStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "controllers"; }

  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"status.replicas"};
    return kNames;
  }
  std::span<const Column> Columns() const override { return kReplicaColumns; }

 protected:
  // The labels of the template are the default of the selector and of the object's own labels.
  void Default(ReplicationController& object) const override {
    ReplicationControllerSpec& spec = object.spec;
    if (spec.template_) {
      const Map<std::string>& labels = spec.template_->metadata.labels;
      if (spec.selector.empty()) spec.selector = labels;
      if (object.metadata.labels.empty()) object.metadata.labels = labels;
      SetPodTemplateDefaults(*spec.template_);
    }
    if (!spec.replicas) spec.replicas = 1;
  }

  FieldErrorList Check(const WriteContext&, const ReplicationController& object) const override {
    return ValidateSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const ReplicationController& object,
                             const ReplicationController& old) const override {
    return ValidateSpec(object.spec, &old.spec);
  }

  Warnings Warn(const WriteContext&, const ReplicationController& object,
                const ReplicationController* old) const override {
    Warnings warnings;
    if (old == nullptr) warnings = WarnOnPodNamePrefix(object.metadata.name);
    bool changed = old == nullptr || old->metadata.generation != object.metadata.generation;
    if (!changed || !object.spec.template_) return warnings;
    for (std::string& text :
         PodTemplateWarnings(FieldPath("spec").Child("template"), *object.spec.template_,
                             old == nullptr ? nullptr : old->spec.template_.get())) {
      warnings.push_back(std::move(text));
    }
    return warnings;
  }

  FieldPairs FieldsOf(const ReplicationController& object) const override {
    return {{"status.replicas", std::to_string(object.status.replicas)}};
  }

  // For compatibility with clients that scale down to zero before they delete.
  Propagation PropagationOf(const ReplicationController&) const override {
    return Propagation::kOrphan;
  }

  Cells RowOf(const ReplicationController& object, const Time& now) const override {
    const core::v1::PodTemplateSpec none;
    const core::v1::PodSpec& pod = (object.spec.template_ ? *object.spec.template_ : none).spec;
    return {object.metadata.name,
            object.spec.replicas.value_or(0),
            object.status.replicas,
            object.status.readyReplicas,
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            LabelsText(object.spec.selector)};
  }
};

}  // namespace

StrategyPtr NewReplicationControllerStrategy() {
  return std::make_unique<ReplicationControllerStrategy>();
}

}  // namespace cox::apiserver
