// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/respond.h"

#include "apiserver/endpoints/verbs/table.h"
#include "apiserver/endpoints/verbs/transform.h"
#include "base/strings.h"

namespace cox::apiserver {

Result<IncludeObject> ParseIncludeObject(const Query& query, const Accepted& accepted) {
  if (accepted.transform != Transform::kTable) return IncludeObject::kMetadata;
  const std::string text = query.Get("includeObject");
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return Status::BadRequest("Unable to convert to Table as requested: " +
                            FieldError::Invalid(FieldPath("includeObject"), text,
                                                "must be 'Metadata', 'Object', 'None', or empty")
                                .ToString());
}

Result<std::string> EncodeShaped(const ServedResource& resource, const Object& hub,
                                 const Accepted& accepted, IncludeObject include, const Time& now,
                                 bool with_columns) {
  switch (accepted.transform) {
    case Transform::kNone:
      // FromHub would copy the hub object.
      if (resource.version() == nullptr) return EncodeAs(hub, accepted);
      return EncodeAs(resource.FromHub(hub), accepted);
    case Transform::kPartialMetadata:
      return EncodeAs(ToPartialMetadata(resource, hub, accepted.transform_version), accepted);
    case Transform::kPartialMetadataList:
      return TransformError(accepted, resource.kind(), /*list=*/false);
    case Transform::kTable:
      break;
  }
  ListMeta meta;
  meta.revision = ParseResourceVersion(hub.object_meta()->resourceVersion).value_or(0);
  TableWriter table(resource.strategy().Columns(), accepted.transform_version, include);
  table.Begin(ListMetaJson(meta), with_columns);
  AddTableRow(table, resource, hub, now);
  return FinishJson(table.End(), accepted);
}

Status RespondObject(Call& call, const ServedResource& resource, int code, const Object& hub,
                     const Accepted& accepted) {
  COX_ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(call.query, accepted));
  COX_ASSIGN_OR_RETURN(std::string text,
                       EncodeShaped(resource, hub, accepted, include, NowOf(call.ctx())));
  call.Respond(code, MediaType(accepted.format), {Bytes(std::move(text))});
  return {};
}

Status RespondTable(Call& call, std::span<const Column> columns, std::span<const TableRow> rows,
                    const std::string& resource_version, const Accepted& accepted) {
  COX_ASSIGN_OR_RETURN(const IncludeObject include, ParseIncludeObject(call.query, accepted));
  ListMeta list;
  list.revision = ParseResourceVersion(resource_version).value_or(0);
  TableWriter table(columns, accepted.transform_version, include);
  table.Begin(ListMetaJson(list), /*with_columns=*/true);
  for (const TableRow& row : rows) {
    table.AddRow(row.cells, *row.object.object_meta(), [&row] { return row.object; });
  }
  call.Respond(200, MediaType(accepted.format), {Bytes(FinishJson(table.End(), accepted))});
  return {};
}

void RespondPlain(Call& call, int code, const Object& object, const Accepted& accepted) {
  if (const auto* status = object.As<meta::v1::Status>(); status != nullptr && call.audit()) {
    call.audit()->SetStatus(*status, code);
  }
  call.Respond(code, MediaType(accepted.format), {Bytes(EncodeAs(object, accepted))});
}

}  // namespace cox::apiserver
