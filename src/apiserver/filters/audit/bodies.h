// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "object/object.h"

// Bodies of requests and answers as events hold them: JSON on one line, whatever form they came in.
// Those that cannot be read give the empty text.
namespace cox::apiserver {

std::string AuditedObject(const Object& object, bool omit_managed_fields);
// A patch of any type; configurations to apply may be YAML.
std::string AuditedPatch(std::string_view body);
std::string AuditedAnswer(std::string_view content_type, const std::vector<Bytes>& body,
                          bool omit_managed_fields);

}  // namespace cox::apiserver
