// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/transform.h"

#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/kind_names.h"

namespace cox::apiserver {

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

Object ToPartialMetadata(const ServedResource& resource, const Object& hub,
                         std::string_view version) {
  Object partial(
      meta::v1::PartialObjectMetadata::kKind,
      GroupVersionKind{std::string(kMetaGroup), std::string(version), "PartialObjectMetadata"});
  meta::v1::ObjectMeta& meta = partial.As<meta::v1::PartialObjectMetadata>()->metadata;
  meta = *hub.object_meta();
  resource.strategy().TrimPartialMetadata(meta);
  return partial;
}

void AddTableRow(TableWriter& table, const ServedResource& resource, const Object& hub,
                 const Time& now) {
  meta::v1::ObjectMeta meta = *hub.object_meta();
  resource.strategy().TrimPartialMetadata(meta);
  table.AddRow(resource.strategy().Row(hub, now), meta, [&] { return resource.FromHub(hub); });
}

Status TransformError(const Accepted& accepted, const KindInfo& kind, bool list) {
  const std::string_view requested = accepted.transform == Transform::kPartialMetadata
                                         ? "PartialObjectMetadata"
                                         : "PartialObjectMetadataList";
  return Status(Reason::kNotAcceptable, "you requested " + std::string(requested) +
                                            ", but the requested object is " +
                                            (list ? "a list" : "not a list") + " (*" +
                                            GoTypeName(kind) + (list ? "List)" : ")"));
}

std::string FinishJson(std::string json, const Accepted& accepted) {
  if (accepted.format == Format::kYaml) {
    Result<Value> value = json::Parse(json);
    return value.ok() ? yaml::Write(*value) : std::string();
  }
  if (accepted.pretty) return PrettyJson(json);
  if (!json.ends_with('\n')) json += '\n';
  return json;
}

}  // namespace cox::apiserver
