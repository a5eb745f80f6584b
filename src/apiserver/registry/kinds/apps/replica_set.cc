// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "api/apps/v1.h"
#include "apiserver/registry/kinds/apps/strategies.h"
#include "apiserver/registry/kinds/apps/workload.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/store/spec_and_status.h"
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
  // Upstream's error says "deployment" for this kind, too.
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

class ReplicaSetStatusStrategy final : public PlainStatusStrategy<ReplicaSet> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const ReplicaSet& object,
                             const ReplicaSet&) const override {
    return ValidateReplicaStatus(object.status);
  }
};

class ReplicaSetStrategy final
    : public SpecAndStatusStrategy<ReplicaSet, ReplicaSetStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "replicasets"; }

  std::span<const Column> Columns() const override { return kReplicaColumns; }

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
    Append(errors, ValidateSelectorKept(object.spec.selector, old.spec.selector));
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

StrategyPtr NewReplicaSetStrategy() { return std::make_unique<ReplicaSetStrategy>(); }

}  // namespace cox::apiserver
