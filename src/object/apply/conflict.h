// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/status.h"
#include "object/apply/managers.h"

namespace cox::apply {

// The fields that an apply would change although other managers own them, by manager.
using Conflicts = std::map<ManagerId, FieldSet>;

// The API's Conflict error: a message that lists all fields, and a FieldManagerConflict cause for
// each.
//
//   Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.replicas
//
// REQUIRES: `conflicts` is not empty.
Status ConflictStatus(const Conflicts& conflicts);

}  // namespace cox::apply
