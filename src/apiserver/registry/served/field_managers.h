// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "apiserver/registry/served/registry.h"
#include "object/apply/field_manager.h"
#include "object/object.h"
#include "object/scalar/time.h"

namespace cox::apiserver {

// Sets metadata.managedFields of `served`, an object of the served kind, for a write by `manager`
// that replaces `live_served` (null: a create).
void TrackManagers(const ServedResource& resource, std::string_view subresource,
                   const Object* live_served, Object& served, std::string_view manager,
                   const Time& now);
// The same for objects that are not stored.
void TrackManagers(const apply::FieldManager& fields, const Value& live, Object& served,
                   std::string_view manager, const Time& now);

}  // namespace cox::apiserver
