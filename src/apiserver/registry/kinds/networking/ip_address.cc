// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/networking/v1.h"
#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"
#include "object/validation/ip.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace nv = networking::v1;
using nv::IPAddress;

// The name is the canonical form of the address, so that there is one object for each address.
validation::Messages NameIsIp(std::string_view name, bool) {
  validation::Messages messages;
  for (FieldError& error : validation::IsValidIP(FieldPath("name"), name)) {
    messages.push_back(std::move(error.detail));
  }
  return messages;
}

FieldErrorList ValidateParent(const nv::ParentReference& parent, const FieldPath& path) {
  FieldErrorList errors;
  // Services, the usual parents, are in the empty group.
  if (!parent.group.empty()) {
    AppendInvalid(errors, path.Child("group"), parent.group,
                  validation::IsDNS1123Subdomain(parent.group));
  }
  auto segment = [&](const std::string& value, std::string_view field, bool required) {
    if (!value.empty()) {
      AppendInvalid(errors, path.Child(field), value, validation::IsValidPathSegmentName(value));
    } else if (required) {
      errors.push_back(FieldError::Required(path.Child(field)));
    }
  };
  segment(parent.resource, "resource", true);
  segment(parent.name, "name", true);
  segment(parent.namespace_, "namespace", false);
  return errors;
}

class IpAddressStrategy final : public StrategyOf<IPAddress> {
 public:
  std::string_view storage_prefix() const override { return "ipaddresses"; }
  validation::NameRule name_rule() const override { return NameIsIp; }
  // Rows contain an age as a third cell, for which there is no column.
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn, {.name = "ParentRef", .type = "string"}};
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const IPAddress& object) const override {
    const FieldPath path = FieldPath("spec").Child("parentRef");
    if (!object.spec.parentRef) return {FieldError::Required(path)};
    return ValidateParent(*object.spec.parentRef, path);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const IPAddress& object,
                             const IPAddress& old) const override {
    if (DeepEqual(object.spec, old.spec)) return {};
    const FieldPath path = FieldPath("spec").Child("parentRef");
    return {validation::ImmutableField(
        path, object.spec.parentRef ? InternalValue(*object.spec.parentRef) : FieldValue(nullptr))};
  }
  Cells RowOf(const IPAddress& object, const Time& now) const override {
    std::string parent = "<none>";
    if (object.spec.parentRef) {
      const nv::ParentReference& ref = *object.spec.parentRef;
      parent = ref.resource;
      if (!ref.group.empty()) parent += "." + ref.group;
      if (!ref.namespace_.empty()) parent += "/" + ref.namespace_;
      parent += "/" + ref.name;
    }
    return {object.metadata.name, parent, Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewIpAddressStrategy() { return std::make_unique<IpAddressStrategy>(); }

}  // namespace cox::apiserver
