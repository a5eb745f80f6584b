// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/networking/v1.h"
#include "apiserver/registry/kinds/networking/ingress_validation.h"
#include "apiserver/registry/kinds/networking/kinds.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using networking::v1::IngressClass;

class IngressClassStrategy final : public StrategyOf<IngressClass> {
 public:
  std::string_view storage_prefix() const override { return "ingressclasses"; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Controller", .type = "string"},
        {.name = "Parameters", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(IngressClass& object) const override {
    auto& parameters = object.spec.parameters;
    if (parameters && !parameters->scope) parameters->scope = "Cluster";
  }
  void PrepareCreate(const WriteContext&, IngressClass& object) const override {
    object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, IngressClass& object,
                     const IngressClass& old) const override {
    object.metadata.generation =
        old.metadata.generation + (DeepEqual(object.spec, old.spec) ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const IngressClass& object) const override {
    return ValidateIngressClassSpec(object.spec, FieldPath("spec"));
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const IngressClass& object,
                             const IngressClass& old) const override {
    FieldErrorList errors;
    if (object.spec.controller != old.spec.controller) {
      errors.push_back(validation::ImmutableField(FieldPath("spec").Child("controller"),
                                                  object.spec.controller));
    }
    Append(errors, Check(w, object));
    return errors;
  }
  Cells RowOf(const IngressClass& object, const Time& now) const override {
    std::string parameters = "<none>";
    if (object.spec.parameters) {
      const auto& p = *object.spec.parameters;
      parameters = p.kind;
      if (p.apiGroup) parameters += "." + *p.apiGroup;
      parameters += "/" + p.name;
    }
    return {object.metadata.name, object.spec.controller, parameters,
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewIngressClassStrategy() { return std::make_unique<IngressClassStrategy>(); }

}  // namespace cox::apiserver
