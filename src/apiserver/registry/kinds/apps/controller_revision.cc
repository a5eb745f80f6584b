// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "api/apps/v1.h"
#include "apiserver/registry/kinds/apps/strategies.h"
#include "base/strings.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using apps::v1::ControllerRevision;

FieldErrorList ValidateRevision(const ControllerRevision& object) {
  FieldErrorList errors;
  if (object.data.empty() || object.data.raw == "null") {
    errors.push_back(FieldError::Required(FieldPath("data"), "data is mandatory"));
  }
  Append(errors, validation::ValidateNonnegativeField(object.revision, FieldPath("revision")));
  return errors;
}

// The controller of this revision: "statefulset.apps/web".
std::string ControllerText(const meta::v1::ObjectMeta& meta) {
  auto owner =
      std::find_if(meta.ownerReferences.begin(), meta.ownerReferences.end(),
                   [](const meta::v1::OwnerReference& ref) { return ref.controller == true; });
  if (owner == meta.ownerReferences.end()) return "<none>";
  std::string text = owner->kind;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  CutResult group_version = Cut(owner->apiVersion, '/');
  if (group_version.found) text.append(".").append(group_version.before);
  return text.append("/").append(owner->name);
}

class ControllerRevisionStrategy final : public StrategyOf<ControllerRevision> {
 public:
  std::string_view storage_prefix() const override { return "controllerrevisions"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Controller", .type = "string"},
        {.name = "Revision", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const ControllerRevision& object) const override {
    return ValidateRevision(object);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const ControllerRevision& object,
                             const ControllerRevision& old) const override {
    FieldErrorList errors = ValidateRevision(object);
    if (object.data != old.data) {
      errors.push_back(
          validation::ImmutableField(FieldPath("data"), FieldValue::Json(object.data.raw)));
    }
    return errors;
  }

  Cells RowOf(const ControllerRevision& object, const Time& now) const override {
    return {object.metadata.name, ControllerText(object.metadata), object.revision,
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewControllerRevisionStrategy() {
  return std::make_unique<ControllerRevisionStrategy>();
}

}  // namespace cox::apiserver
