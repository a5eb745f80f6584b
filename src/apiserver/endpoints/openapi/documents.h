// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/endpoints/openapi/operations.h"
#include "apiserver/endpoints/openapi/schema.h"

namespace cox::apiserver::openapi {

// The names of the v3 documents, sorted: "api", "api/v1", "apis/apps/v1", "version", ...
std::vector<std::string> DocumentNames(const Operations& operations);

// The v3 document of one group version, of one group or of the server itself, as JSON: its paths
// and all definitions that they reference.
std::string V3Document(const Operations& operations, const Schemas& schemas,
                       std::string_view document);

// The v2 document as JSON.
std::string V2Document(const Operations& operations, const Schemas& schemas,
                       std::string_view server_version);

}  // namespace cox::apiserver::openapi
