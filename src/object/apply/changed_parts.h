// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/type.h"
#include "object/type/value.h"

namespace cox::apply {

// The JSON of two structs of the same type, without the fields that are equal in both: an update
// does not change their owners. Equal fields of the metadata that identify the object or contain
// its managers are included. Lists, maps and atomic structs that differ are included completely.
struct ChangedParts {
  Value before;
  Value after;
};
ChangedParts FindChangedParts(const Type& type, const void* before, const void* after);

}  // namespace cox::apply
