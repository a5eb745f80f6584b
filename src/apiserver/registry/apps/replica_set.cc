// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/apps/v1.h"
#include "apiserver/registry/apps/strategies.h"
#include "apiserver/registry/apps/workload.h"
#include "apiserver/registry/core/pod/pod_validation.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using apps::v1::ReplicaSet;
using apps::v1::ReplicaSetSpec;
using apps::v1::ReplicaSetStatus;

FieldErrorList ValidateSpec(const ReplicaSetSpec& spec, const ReplicaSetSpec* old) {
  FieldPath path("spec");
  FieldErrorList errors =
      validation::ValidateNonnegativeField(spec.replicas.value_or(0), path.Child("replicas"));
  Append(errors,
         validation::ValidateNonnegativeField(spec.minReadySeconds, path.Child("minReadySeconds")));
  // The text says "deployment" for this kind, too.
  Append(errors, ValidateRequiredSelector(spec.selector, path.Child("selector"), "deployment"));
  if (auto selector = labels::Selector::FromLabelSelector(spec.selector.get()); selector.ok()) {
    Append(errors, ValidateReplicaSetTemplate(*selector, spec.template_,
                                              old == nullptr ? nullptr : &old->template_,
                                              path.Child("template")));
  } else {
    errors.push_back(FieldError::Invalid(path.Child("selector"), ValueOf(spec.selector),
                                         "invalid label selector"));
  }
  return errors;
}

class StatusStrategy final : public PlainStatusStrategy<ReplicaSet> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const ReplicaSet& object,
                             const ReplicaSet&) const override {
    FieldPath path("status");
    const ReplicaSetStatus& status = object.status;
    FieldErrorList errors =
        ValidateCounters({{"replicas", status.replicas},
                          {"fullyLabeledReplicas", status.fullyLabeledReplicas},
                          {"readyReplicas", status.readyReplicas},
                          {"availableReplicas", status.availableReplicas},
                          {"terminatingReplicas", status.terminatingReplicas.value_or(0)},
                          {"observedGeneration", status.observedGeneration}},
                         path);
    Append(errors, ValidateAtMost({{"fullyLabeledReplicas", status.fullyLabeledReplicas},
                                   {"readyReplicas", status.readyReplicas},
                                   {"availableReplicas", status.availableReplicas}},
                                  status.replicas, "status.replicas", path));
    Append(errors, ValidateAtMost({{"availableReplicas", status.availableReplicas}},
                                  status.readyReplicas, "readyReplicas", path));
    return errors;
  }
};

class Kind final : public SpecAndStatusStrategy<ReplicaSet> {
 public:
  Kind() : SpecAndStatusStrategy("replicasets", std::make_unique<StatusStrategy>()) {}

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Desired", .type = "integer"},
        {.name = "Current", .type = "integer"},
        {.name = "Ready", .type = "integer"},
        kAgeColumn,
        kContainersColumn,
        kImagesColumn,
        kSelectorColumn,
    };
    return kColumns;
  }

 protected:
  void Default(ReplicaSet& object) const override {
    if (!object.spec.replicas) object.spec.replicas = 1;
    SetPodTemplateDefaults(object.spec.template_);
  }

  FieldErrorList Check(const WriteContext&, const ReplicaSet& object) const override {
    return ValidateSpec(object.spec, nullptr);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const ReplicaSet& object,
                             const ReplicaSet& old) const override {
    FieldErrorList errors = ValidateSpec(object.spec, &old.spec);
    if (!SameBox(object.spec.selector, old.spec.selector)) {
      errors.push_back(validation::ImmutableField(FieldPath("spec").Child("selector"),
                                                  ValueOf(object.spec.selector)));
    }
    return errors;
  }

  Warnings Warn(const WriteContext&, const ReplicaSet& object,
                const ReplicaSet* old) const override {
    return WarnOnNameAndTemplate(object, old);
  }

  Cells RowOf(const ReplicaSet& object, const Time& now) const override {
    const core::v1::PodSpec& pod = object.spec.template_.spec;
    return {object.metadata.name,
            object.spec.replicas.value_or(0),
            object.status.replicas,
            object.status.readyReplicas,
            Age(object.metadata.creationTimestamp, now),
            ContainerNames(pod),
            ContainerImages(pod),
            SelectorText(object.spec.selector)};
  }
};

}  // namespace

StrategyPtr NewReplicaSetStrategy() { return std::make_unique<Kind>(); }

}  // namespace cox::apiserver
