// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "object/object.h"

// Request and response bodies in audit events: JSON on one line, whatever their original format.
// Bodies that cannot be decoded yield an empty string.
namespace cox::apiserver {

std::string AuditedObject(const Object& object, bool omit_managed_fields);
// A patch of any type; apply configurations may be YAML.
std::string AuditedPatch(std::string_view body);
std::string AuditedResponse(std::string_view content_type, const std::vector<Bytes>& body,
                            bool omit_managed_fields);

}  // namespace cox::apiserver
