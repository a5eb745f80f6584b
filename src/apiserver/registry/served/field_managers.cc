// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/field_managers.h"

#include "object/apply/managed_fields.h"

namespace cox::apiserver {

void TrackManagers(const ServedResource& resource, std::string_view subresource,
                   const Object* live_served, Object& served, std::string_view manager,
                   const Time& now) {
  const apply::FieldManager& fields = resource.field_manager(subresource);
  // On create, diff against an empty object, so that zero-value structs get no owner.
  if (live_served == nullptr) return TrackManagers(fields, fields.nothing(), served, manager, now);
  TrackManagers(fields, fields.Named(live_served->ToValue()), served, manager, now);
}

void TrackManagers(const apply::FieldManager& fields, const Value& live, Object& served,
                   std::string_view manager, const Time& now) {
  const Result<apply::Managers> managers =
      fields.UpdateManagers(live, served.ToValue(), manager, now.ToString());
  meta::v1::ObjectMeta& meta = *served.object_meta();
  meta.managedFields.clear();
  // A write does not fail because its field managers cannot be recorded.
  if (managers.ok()) meta.managedFields = apply::ManagedFieldsEntries(*managers);
}

}  // namespace cox::apiserver
