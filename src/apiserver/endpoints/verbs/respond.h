// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "apiserver/request/now.h"

// Responses that contain objects, encoded in the media type and transformation that the client
// accepts.
namespace cox::apiserver {

// The part of each object that a Table row contains (?includeObject=). Ignored unless the response
// is a Table.
enum class IncludeObject : uint8_t { kMetadata, kNone, kObject };
Result<IncludeObject> ParseIncludeObject(const Query& query, const Accepted& accepted);

// Responds with one object of the hub version. If the transformation is not supported, returns an
// error and does not respond.
Status RespondObject(Call& call, const ServedResource& resource, int code, const Object& hub,
                     const Accepted& accepted);
// Responds with one object of any kind without transformation (a Status, a Scale).
void RespondPlain(Call& call, int code, const Object& object, const Accepted& accepted);

// Responds with a Table of objects that are not stored themselves. `resource_version` is that of
// the Table; empty: none.
struct TableRow {
  Object object;
  Cells cells;
};
Status RespondTable(Call& call, std::span<const Column> columns, std::span<const TableRow> rows,
                    const std::string& resource_version, const Accepted& accepted);

// Encodes an object, transformed as requested: unchanged, as a Table of one row or as
// PartialObjectMetadata.
Result<std::string> EncodeShaped(const ServedResource& resource, const Object& hub,
                                 const Accepted& accepted, IncludeObject include, const Time& now,
                                 bool with_columns = true);
}  // namespace cox::apiserver
