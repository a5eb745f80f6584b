// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/networking/v1.h"
#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/validation/ip.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using networking::v1::ServiceCIDR;

bool IsDualStack(const std::string& a, const std::string& b) {
  const auto first = validation::ParseCidrSloppy(a), second = validation::ParseCidrSloppy(b);
  return first && second && first->address.IsIpv4() != second->address.IsIpv4();
}

FieldErrorList ValidateSpec(const networking::v1::ServiceCIDRSpec& spec) {
  const FieldPath path = FieldPath("spec").Child("cidrs");
  if (spec.cidrs.empty()) return {FieldError::Required(path, "at least one CIDR required")};
  if (spec.cidrs.size() > 2) {
    return {FieldError::Invalid(path, InternalValue(spec), "may only hold up to 2 values")};
  }
  FieldErrorList errors;
  if (spec.cidrs.size() == 2 && !IsDualStack(spec.cidrs[0], spec.cidrs[1])) {
    errors.push_back(FieldError::Invalid(path, spec.cidrs,
                                         "may specify no more than one IP for each IP family, i.e "
                                         "192.168.0.0/24 and 2001:db8::/64"));
  }
  for (size_t i = 0; i < spec.cidrs.size(); ++i) {
    Append(errors, validation::IsValidCIDR(path.Index(i), spec.cidrs[i]));
  }
  return errors;
}

class ServiceCidrStrategy final
    : public SpecAndStatusStrategy<ServiceCIDR, PlainStatusStrategy<ServiceCIDR>,
                                   Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "servicecidrs"; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "CIDRs", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const ServiceCIDR& object) const override {
    return ValidateSpec(object.spec);
  }
  // Ranges are immutable; a second one of the other family may be added, for dual-stack clusters.
  FieldErrorList CheckUpdate(const WriteContext&, const ServiceCIDR& object,
                             const ServiceCIDR& old) const override {
    const FieldPath path = FieldPath("spec").Child("cidrs");
    const auto &now = object.spec.cidrs, &before = old.spec.cidrs;
    if (now.size() < before.size()) return {validation::ImmutableField(path, now)};
    FieldErrorList errors;
    for (size_t i = 0; i < before.size(); ++i) {
      if (now[i] != before[i]) {
        errors.push_back(validation::ImmutableField(path.Index(i), now[i]));
      }
    }
    if (now.size() > before.size()) Append(errors, ValidateSpec(object.spec));
    return errors;
  }
  Cells RowOf(const ServiceCIDR& object, const Time& now) const override {
    std::string cidrs;
    for (const std::string& cidr : object.spec.cidrs) cidrs += (cidrs.empty() ? "" : ",") + cidr;
    return {object.metadata.name, cidrs, Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewServiceCidrStrategy() { return std::make_unique<ServiceCidrStrategy>(); }

}  // namespace cox::apiserver
