// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/pod/columns.h"
#include "apiserver/registry/kinds/core/pod/disabled_fields.h"
#include "apiserver/registry/kinds/core/pod/strategy.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::PodTemplate;

class PodTemplateStrategy final : public StrategyOf<PodTemplate> {
 public:
  std::string_view storage_prefix() const override { return "podtemplates"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override { return PodTemplateColumns(); }

 protected:
  void Default(PodTemplate& object) const override { SetPodTemplateDefaults(object.template_); }

  void PrepareCreate(const WriteContext&, PodTemplate& object) const override {
    object.metadata.generation = 1;
    DropDisabledPodFields(object.template_.spec, nullptr);
  }
  void PrepareUpdate(const WriteContext&, PodTemplate& object,
                     const PodTemplate& old) const override {
    DropDisabledPodFields(object.template_.spec, &old.template_.spec);
    object.metadata.generation = old.metadata.generation;
    if (!DeepEqual(object.template_, old.template_)) ++object.metadata.generation;
  }

  FieldErrorList Check(const WriteContext&, const PodTemplate& object) const override {
    return ValidatePodTemplateSpec(object.template_, FieldPath("template"));
  }
  FieldErrorList CheckUpdate(const WriteContext&, const PodTemplate& object,
                             const PodTemplate& old) const override {
    return ValidatePodTemplateSpec(object.template_, FieldPath("template"),
                                   PodValidationOptionsFor(&old.template_.spec));
  }

  Warnings Warn(const WriteContext&, const PodTemplate& object,
                const PodTemplate* old) const override {
    // Do not repeat the warnings about an unchanged template.
    if (old != nullptr && DeepEqual(object.template_, old->template_)) return {};
    return PodTemplateWarnings(FieldPath("template"), object.template_,
                               old == nullptr ? nullptr : &old->template_);
  }

  Cells RowOf(const PodTemplate& object, const Time&) const override {
    return PodTemplateRow(object);
  }
};

}  // namespace

StrategyPtr NewPodTemplateStrategy() { return std::make_unique<PodTemplateStrategy>(); }

}  // namespace cox::apiserver
