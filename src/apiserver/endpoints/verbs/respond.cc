// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/respond.h"

#include <algorithm>

#include "apiserver/endpoints/verbs/table.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/kind_names.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io";

// The member `"metadata":{...}` of a list.
std::string ListMetaJson(const ListMeta& meta) {
  std::string text = "\"metadata\":{";
  if (meta.revision > 0) text += "\"resourceVersion\":\"" + std::to_string(meta.revision) + "\"";
  if (!meta.continue_token.empty()) text += ",\"continue\":\"" + meta.continue_token + "\"";
  if (meta.remaining) text += ",\"remainingItemCount\":" + std::to_string(*meta.remaining);
  return text + "}";
}

meta::v1::ListMeta ToListMeta(const ListMeta& from) {
  meta::v1::ListMeta meta;
  if (from.revision > 0) meta.resourceVersion = std::to_string(from.revision);
  meta.continue_ = from.continue_token;
  meta.remainingItemCount = from.remaining;
  return meta;
}

Object Partial(const ServedResource& resource, const Object& object, std::string_view version) {
  Object partial(
      meta::v1::PartialObjectMetadata::kKind,
      GroupVersionKind{std::string(kMetaGroup), std::string(version), "PartialObjectMetadata"});
  meta::v1::ObjectMeta& meta = partial.As<meta::v1::PartialObjectMetadata>()->metadata;
  meta = *object.object_meta();
  resource.strategy().TrimPartialMetadata(meta);
  return partial;
}

Status NotTheShape(const Accepted& accepted, const KindInfo& kind, bool list) {
  const std::string_view wish = accepted.transform == Transform::kPartialMetadata
                                    ? "PartialObjectMetadata"
                                    : "PartialObjectMetadataList";
  return Status(Reason::kNotAcceptable, "you requested " + std::string(wish) +
                                            ", but the requested object is " +
                                            (list ? "a list" : "not a list") + " (*" +
                                            GoTypeName(kind) + (list ? "List)" : ")"));
}

std::vector<const Object*> InRowOrder(const Strategy& strategy, const std::vector<Object>& hubs) {
  std::vector<const Object*> rows;
  rows.reserve(hubs.size());
  for (const Object& hub : hubs) rows.push_back(&hub);
  if (strategy.SortsRows()) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Object* a, const Object* b) { return strategy.RowBefore(*a, *b); });
  }
  return rows;
}

void AddRow(TableWriter& table, const ServedResource& resource, const Object& hub,
            const Time& now) {
  meta::v1::ObjectMeta meta = *hub.object_meta();
  resource.strategy().TrimPartialMetadata(meta);
  table.AddRow(resource.strategy().Row(hub, now), meta, [&] { return resource.FromHub(hub); });
}

// Converts JSON to its final form: YAML, indented, or with a newline at the end.
std::string Finish(std::string json, const Accepted& accepted) {
  if (accepted.format == Format::kYaml) {
    Result<Value> value = json::Parse(json);
    return value.ok() ? yaml::Write(*value) : std::string();
  }
  if (accepted.pretty) return PrettyJson(json);
  if (!json.ends_with('\n')) json += '\n';
  return json;
}

}  // namespace

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
      return EncodeAs(Partial(resource, hub, accepted.transform_version), accepted);
    case Transform::kPartialMetadataList:
      return NotTheShape(accepted, resource.kind(), /*list=*/false);
    case Transform::kTable:
      break;
  }
  ListMeta meta;
  meta.revision = ParseResourceVersion(hub.object_meta()->resourceVersion).value_or(0);
  TableWriter table(resource.strategy().Columns(), accepted.transform_version, include);
  table.Begin(ListMetaJson(meta), with_columns);
  AddRow(table, resource, hub, now);
  return Finish(table.End(), accepted);
}

Result<std::string> EncodeShapedList(const ServedResource& resource,
                                     const std::vector<Object>& hubs, const ListMeta& meta,
                                     const Accepted& accepted, IncludeObject include,
                                     const Time& now) {
  if (accepted.transform == Transform::kPartialMetadata) {
    return NotTheShape(accepted, resource.kind(), /*list=*/true);
  }
  if (accepted.transform == Transform::kTable) {
    TableWriter table(resource.strategy().Columns(), accepted.transform_version, include);
    table.Begin(ListMetaJson(meta), /*with_columns=*/true);
    for (const Object* hub : InRowOrder(resource.strategy(), hubs)) {
      AddRow(table, resource, *hub, now);
    }
    return Finish(table.End(), accepted);
  }
  if (accepted.transform == Transform::kPartialMetadataList &&
      accepted.format == Format::kProtobuf) {
    Object list(meta::v1::PartialObjectMetadataList::kKind,
                GroupVersionKind{std::string(kMetaGroup), accepted.transform_version,
                                 "PartialObjectMetadataList"});
    auto* typed = list.As<meta::v1::PartialObjectMetadataList>();
    typed->metadata = ToListMeta(meta);
    for (const Object& hub : hubs) {
      typed->items.push_back(*Partial(resource, hub, accepted.transform_version)
                                  .As<meta::v1::PartialObjectMetadata>());
    }
    std::string text;
    EncodeObject(list, Format::kProtobuf, &text);
    return text;
  }
  const bool partial = accepted.transform == Transform::kPartialMetadataList;
  std::string text;
  if (partial) {
    text = R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/)" +
           accepted.transform_version + "\",";
  } else {
    text = "{\"kind\":\"" + std::string(resource.kind().kind) + "List\",\"apiVersion\":\"" +
           ApiVersionOf(resource.kind()) + "\",";
  }
  text += ListMetaJson(meta) + ",\"items\":[";
  for (size_t i = 0; i < hubs.size(); ++i) {
    if (i > 0) text += ',';
    if (partial) {
      EncodeObject(Partial(resource, hubs[i], accepted.transform_version), Format::kJson, &text);
      text.pop_back();
    } else {
      const Object served = resource.FromHub(hubs[i]);
      const json::TypeMeta unnamed{.embedded = true};
      json::Encode(served.type(), served.data(), &text, &unnamed);
    }
  }
  return Finish(text + "]}", accepted);
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
  call.Respond(200, MediaType(accepted.format), {Bytes(Finish(table.End(), accepted))});
  return {};
}

void RespondPlain(Call& call, int code, const Object& object, const Accepted& accepted) {
  if (const auto* status = object.As<meta::v1::Status>(); status != nullptr && call.audit()) {
    call.audit()->SetStatus(*status, code);
  }
  call.Respond(code, MediaType(accepted.format), {Bytes(EncodeAs(object, accepted))});
}

std::vector<Bytes> GatherJsonList(const ServedResource& resource, const std::vector<Bytes>& items,
                                  const ListMeta& meta) {
  std::vector<Bytes> pieces;
  pieces.reserve(items.size() * 2 + 2);
  pieces.emplace_back("{\"kind\":\"" + std::string(resource.kind().kind) +
                      "List\",\"apiVersion\":\"" + ApiVersionOf(resource.kind()) + "\"," +
                      ListMetaJson(meta) + ",\"items\":[");
  for (size_t i = 0; i < items.size(); ++i) {
    // Items have neither kind nor apiVersion: skip these members of the shared encoding.
    pieces.push_back(Bytes::Static(i == 0 ? "{" : ",{"));
    pieces.push_back(items[i].Slice(resource.type_meta_size()));
  }
  pieces.push_back(Bytes::Static("]}\n"));
  return pieces;
}

std::vector<Bytes> GatherProtobufList(const ServedResource& resource,
                                      const std::vector<Bytes>& items, const ListMeta& meta) {
  // The message of the list has metadata in field 1 and items in field 2. The envelope needs its
  // size first.
  std::string list_meta;
  const meta::v1::ListMeta typed = ToListMeta(meta);
  proto::Encode(meta::v1::ListMeta::kType, &typed, &list_meta);
  std::string head;
  proto::AppendLengthPrefix(&head, 1, list_meta.size());
  head += list_meta;
  size_t size = head.size();
  std::vector<Bytes> raws;
  std::vector<std::string> prefixes;
  for (const Bytes& item : items) {
    Result<proto::Envelope> envelope = proto::Open(item.view());
    if (!envelope.ok()) continue;
    const std::string_view raw = envelope->raw;
    std::string prefix;
    proto::AppendLengthPrefix(&prefix, 2, raw.size());
    size += prefix.size() + raw.size();
    prefixes.push_back(std::move(prefix));
    raws.push_back(item.Slice(static_cast<size_t>(raw.data() - item.data()), raw.size()));
  }
  std::vector<Bytes> pieces;
  pieces.reserve(raws.size() * 2 + 2);
  pieces.emplace_back(proto::EnvelopeHead(ApiVersionOf(resource.kind()),
                                          std::string(resource.kind().kind) + "List", size) +
                      head);
  for (size_t i = 0; i < raws.size(); ++i) {
    pieces.emplace_back(std::move(prefixes[i]));
    pieces.push_back(std::move(raws[i]));
  }
  pieces.emplace_back(std::string(proto::kEnvelopeTail));
  return pieces;
}

}  // namespace cox::apiserver
