// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/resource/v1.h"
#include "apiserver/registry/kinds/resource/claim_rules.h"
#include "apiserver/registry/kinds/resource/strategy.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using resource::v1::ResourceClaim;
using resource::v1::ResourceClaimTemplate;

class StatusStrategy final : public PlainStatusStrategy<ResourceClaim> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const ResourceClaim& claim,
                             const ResourceClaim& old) const override {
    return devices::ValidateClaimStatus(claim, old);
  }
};

// The state as in the table: "allocated,reserved".
std::string StateText(const ResourceClaim& claim) {
  std::string text;
  auto add = [&text](std::string_view state) {
    text.append(text.empty() ? "" : ",").append(state);
  };
  bool deleted = claim.metadata.deletionTimestamp.has_value();
  if (deleted) add("deleted");
  if (claim.status.allocation) {
    add("allocated");
    if (!claim.status.reservedFor.empty()) add("reserved");
  } else if (!deleted) {
    add("pending");
  }
  return text;
}

class ResourceClaimStrategy final
    : public SpecAndStatusStrategy<ResourceClaim, StatusStrategy, Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "resourceclaims"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn, {.name = "State", .type = "string"}, kAgeColumn};
    return kColumns;
  }

 protected:
  void Default(ResourceClaim& claim) const override { devices::SetClaimDefaults(claim.spec); }
  FieldErrorList Check(const WriteContext&, const ResourceClaim& claim) const override {
    return devices::ValidateClaimSpec(claim.spec, FieldPath("spec"));
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const ResourceClaim& claim,
                             const ResourceClaim& old) const override {
    FieldErrorList errors;
    if (!DeepEqual(claim.spec, old.spec)) {
      errors.push_back(validation::ImmutableField(FieldPath("spec"), InternalValue(claim.spec)));
    }
    Append(errors, Check(w, claim));
    return errors;
  }
  Warnings Warn(const WriteContext&, const ResourceClaim& claim,
                const ResourceClaim*) const override {
    return devices::ClaimWarnings(claim.spec, FieldPath("spec"));
  }
  Cells RowOf(const ResourceClaim& claim, const Time& now) const override {
    return {claim.metadata.name, StateText(claim), Age(claim.metadata.creationTimestamp, now)};
  }
};

class ResourceClaimTemplateStrategy final : public StrategyOf<ResourceClaimTemplate> {
 public:
  std::string_view storage_prefix() const override { return "resourceclaimtemplates"; }
  bool ReturnsDeletedObject() const override { return true; }

 protected:
  void Default(ResourceClaimTemplate& claim) const override {
    devices::SetClaimDefaults(claim.spec.spec);
  }
  FieldErrorList Check(const WriteContext&, const ResourceClaimTemplate& claim) const override {
    FieldPath spec("spec"), metadata = spec.Child("metadata");
    FieldErrorList errors = ValidateAnnotationMap(claim, metadata.Child("annotations"));
    Append(errors, ValidateLabels(claim.spec.metadata.labels, metadata.Child("labels")));
    Append(errors, devices::ValidateClaimSpec(claim.spec.spec, spec.Child("spec")));
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const ResourceClaimTemplate& claim,
                             const ResourceClaimTemplate& old) const override {
    if (DeepEqual(claim.spec, old.spec)) return {};
    return {validation::ImmutableField(FieldPath("spec"), InternalValue(claim.spec))};
  }
  Warnings Warn(const WriteContext&, const ResourceClaimTemplate& claim,
                const ResourceClaimTemplate*) const override {
    return devices::ClaimWarnings(claim.spec.spec, FieldPath("spec").Child("spec"));
  }

 private:
  static FieldErrorList ValidateAnnotationMap(const ResourceClaimTemplate& claim,
                                              const FieldPath& path) {
    std::vector<validation::StringPair> pairs;
    for (const auto& [key, value] : claim.spec.metadata.annotations) pairs.emplace_back(key, value);
    return validation::ValidateAnnotations(pairs, path);
  }
};

}  // namespace

StrategyPtr NewResourceClaimStrategy() { return std::make_unique<ResourceClaimStrategy>(); }
StrategyPtr NewResourceClaimTemplateStrategy() {
  return std::make_unique<ResourceClaimTemplateStrategy>();
}

}  // namespace cox::apiserver
