// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/table.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/request/call.h"
#include "storage/store.h"

// The forms of objects and lists besides the plain one: PartialObjectMetadata, Table, YAML,
// indented JSON. The endpoints use respond.h and list_response.h.
namespace cox::apiserver {

// The metadata of a list.
struct ListMeta {
  storage::Revision revision = 0;
  std::string continue_token;
  std::optional<int64_t> remaining;
};
// The member `"metadata":{...}`.
std::string ListMetaJson(const ListMeta& meta);
meta::v1::ListMeta ToListMeta(const ListMeta& meta);

inline constexpr std::string_view kMetaGroup = "meta.k8s.io";

// `version` is the version of meta.k8s.io.
Object ToPartialMetadata(const ServedResource& resource, const Object& hub,
                         std::string_view version);
// Appends the row of an object.
void AddTableRow(TableWriter& table, const ServedResource& resource, const Object& hub,
                 const Time& now);

// The error for a single object if a list was requested, and the reverse.
Status TransformError(const Accepted& accepted, const KindInfo& kind, bool list);

// Converts JSON to the format that the client accepts: YAML, indented JSON, or JSON with a newline
// at the end.
std::string FinishJson(std::string json, const Accepted& accepted);

}  // namespace cox::apiserver
