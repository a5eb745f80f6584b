// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/strategy.h"

#include "apiserver/registry/store/errors.h"

namespace cox::apiserver {

std::span<const Column> Strategy::Columns() const {
  static constexpr Column kColumns[] = {kNameColumn, kAgeColumn};
  return kColumns;
}

Status Strategy::UnknownField(const KindInfo&, std::string_view field) const {
  if (!FieldNames().empty()) {
    return Status::BadRequest("field label not supported: " + std::string(field));
  }
  return UnknownFieldError(field);
}

Cells Strategy::Row(const Object& object, const Time& now) const {
  const meta::v1::ObjectMeta* meta = object.object_meta();
  if (meta == nullptr) return {};
  return {meta->name, Age(meta->creationTimestamp, now)};
}

}  // namespace cox::apiserver
