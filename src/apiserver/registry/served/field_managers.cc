// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/field_managers.h"

#include <utility>

#include "object/apply/changed_parts.h"
#include "object/apply/managed_fields.h"

namespace cox::apiserver {
namespace {

// Sets the managers of a new object. Returns false and changes nothing if the object already has
// managedFields, or if FieldManager::EntriesOfNewObject does not support it.
bool TrackCreation(const apply::FieldManager& fields, Object& served, std::string_view manager,
                   const Time& now) {
  meta::v1::ObjectMeta& meta = *served.object_meta();
  if (!served.is_typed() || !meta.managedFields.empty()) return false;
  auto entries = fields.EntriesOfNewObject(served.data(), manager, now);
  if (!entries) return false;
  meta.managedFields = *std::move(entries);
  return true;
}

void SetManagers(const Result<apply::Managers>& managers, Object& served) {
  meta::v1::ObjectMeta& meta = *served.object_meta();
  meta.managedFields.clear();
  // A write does not fail because its field managers cannot be recorded.
  if (managers.ok()) meta.managedFields = apply::ManagedFieldsEntries(*managers);
}

}  // namespace

void TrackManagers(const ServedResource& resource, std::string_view subresource,
                   const Object* live_served, Object& served, std::string_view manager,
                   const Time& now) {
  const apply::FieldManager& fields = resource.field_manager(subresource);
  // On create, diff against an empty object, so that zero-value structs get no owner.
  if (live_served == nullptr) {
    if (TrackCreation(fields, served, manager, now)) return;
    return TrackManagers(fields, fields.nothing(), served, manager, now);
  }
  if (!served.is_typed() || !live_served->is_typed() || &served.type() != &live_served->type()) {
    return TrackManagers(fields, fields.Named(live_served->ToValue()), served, manager, now);
  }
  apply::ChangedParts changed =
      apply::FindChangedParts(served.type(), live_served->data(), served.data());
  SetManagers(
      fields.UpdateManagers(fields.Named(std::move(changed.before)),
                            fields.Named(std::move(changed.after)), manager, now.ToString()),
      served);
}

void TrackManagers(const apply::FieldManager& fields, const Value& live, Object& served,
                   std::string_view manager, const Time& now) {
  SetManagers(fields.UpdateManagers(live, served.ToValue(), manager, now.ToString()), served);
}

}  // namespace cox::apiserver
