// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/status.h"
#include "object/apply/managers.h"

namespace cox::apply {

// The fields that an apply would change although others own them, by owner.
using Conflicts = std::map<ManagerId, FieldSet>;

// Conflict, as the API reports it: a message that lists all fields, and a cause
// FieldManagerConflict for each.
//
//   Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.replicas
//
// REQUIRES: there are some.
Status ConflictStatus(const Conflicts& conflicts);

}  // namespace cox::apply
