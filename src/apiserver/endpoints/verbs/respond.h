// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "apiserver/request/now.h"

// Answers that are objects: in the form and shape the client accepts.
namespace cox::apiserver {

// What a list says about itself.
struct ListMeta {
  storage::Revision revision = 0;
  std::string continue_token;
  std::optional<int64_t> remaining;
};

// How much of each object a Table row carries (?includeObject=). Other shapes do not look at it.
enum class IncludeObject : uint8_t { kMetadata, kNone, kObject };
Result<IncludeObject> ParseIncludeObject(const Query& query, const Accepted& accepted);

// One object, of the hub kind. Fails, and does not answer, for a shape it cannot have.
Status RespondObject(Call& call, const ServedResource& resource, int code, const Object& hub,
                     const Accepted& accepted);
// One object of any kind, as it is (a Status, a Scale).
void RespondPlain(Call& call, int code, const Object& object, const Accepted& accepted);

// The same as a Table of one row.
Status RespondRow(Call& call, const Object& object, std::span<const Column> columns,
                  const Cells& cells, const Accepted& accepted);

// The text of an object in the shape asked for: itself, a Table of one, PartialObjectMetadata.
Result<std::string> EncodeShaped(const ServedResource& resource, const Object& hub,
                                 const Accepted& accepted, IncludeObject include, const Time& now,
                                 bool with_columns = true);
// A list of objects in the shape asked for, for shapes and forms that need them decoded.
Result<std::string> EncodeShapedList(const ServedResource& resource,
                                     const std::vector<Object>& hubs, const ListMeta& meta,
                                     const Accepted& accepted, IncludeObject include,
                                     const Time& now);

// Lists made of shared encodings, by gathering them.
std::vector<Bytes> GatherJsonList(const ServedResource& resource, const std::vector<Bytes>& items,
                                  const ListMeta& meta);
std::vector<Bytes> GatherProtobufList(const ServedResource& resource,
                                      const std::vector<Bytes>& items, const ListMeta& meta);

}  // namespace cox::apiserver
