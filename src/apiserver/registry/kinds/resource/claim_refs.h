// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/kinds/resource/claim_rules.h"

// References to requests of a claim, in its spec and status.
namespace cox::apiserver::devices {

FieldErrorList ValidateRequestRef(std::string_view name, const RequestNames& names,
                                  const FieldPath& path);
// Validates several references, which must be unique.
void CheckRequestRefs(FieldErrorList& errors, const List<std::string>& refs,
                      const RequestNames& names, const FieldPath& path);

}  // namespace cox::apiserver::devices
