// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/bodies.h"

#include "api/meta/v1.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/codec/json/text.h"
#include "object/codec/yaml/yaml.h"

namespace cox::apiserver {
namespace {

void DropManagedFields(Value& object) {
  Value* metadata = object.Find("metadata");
  if (metadata != nullptr && metadata->is_object()) metadata->as_object().Erase("managedFields");
}

// Covers an object, the items of a list, and the objects of a Table.
void DropAllManagedFields(Value& root) {
  DropManagedFields(root);
  if (Value* items = root.Find("items"); items != nullptr && items->is_array()) {
    for (Value& item : items->as_array()) DropManagedFields(item);
  }
  if (Value* rows = root.Find("rows"); rows != nullptr && rows->is_array()) {
    for (Value& row : rows->as_array()) {
      if (Value* object = row.Find("object")) DropManagedFields(*object);
    }
  }
}

std::string WithoutManagedFields(std::string json) {
  if (json.find("\"managedFields\"") == std::string::npos) return json;
  Result<Value> value = json::Parse(json);
  if (!value.ok()) return {};
  DropAllManagedFields(*value);
  return json::Write(*value);
}

std::string Gathered(const std::vector<Bytes>& pieces) {
  size_t size = 0;
  for (const Bytes& piece : pieces) size += piece.size();
  std::string text;
  text.reserve(size);
  for (const Bytes& piece : pieces) text += piece.view();
  return text;
}

// For JSON from our encoder, which may be indented.
std::string OnOneLine(std::string json) {
  if (json.ends_with('\n')) json.pop_back();
  if (json.find('\n') == std::string::npos) return json;
  std::string compact;
  json::WriteCompact(json, &compact);
  return compact;
}

std::string FromYaml(std::string_view text) {
  const Result<Value> value = yaml::Parse(text);
  return value.ok() ? json::Write(*value) : std::string();
}

std::string FromProtobuf(std::string_view bytes) {
  const Result<Object> object = DecodeObject(bytes, Format::kProtobuf, Scheme::Builtin());
  if (!object.ok()) return {};
  std::string json;
  EncodeObject(*object, Format::kJson, &json, Embedded::kNamed);
  json.pop_back();
  return json;
}

}  // namespace

std::string AuditedObject(const Object& object, bool omit_managed_fields) {
  const meta::v1::ObjectMeta* meta = object.object_meta();
  if (omit_managed_fields && meta != nullptr && !meta->managedFields.empty()) {
    Object copy = object;
    copy.object_meta()->managedFields.clear();
    return AuditedObject(copy, false);
  }
  std::string json;
  EncodeObject(object, Format::kJson, &json, Embedded::kNamed);
  json.pop_back();
  return json;
}

std::string AuditedPatch(std::string_view body) {
  if (!json::Parse(body).ok()) return FromYaml(body);
  std::string compact;
  json::WriteCompact(body, &compact);
  return compact;
}

std::string AuditedResponse(std::string_view content_type, const std::vector<Bytes>& body,
                            bool omit_managed_fields) {
  std::string json;
  if (content_type.starts_with("application/json")) {
    json = OnOneLine(Gathered(body));
  } else if (content_type.starts_with("application/vnd.kubernetes.protobuf")) {
    json = FromProtobuf(Gathered(body));
  } else if (content_type.starts_with("application/yaml")) {
    json = FromYaml(Gathered(body));
  }
  return omit_managed_fields ? WithoutManagedFields(std::move(json)) : json;
}

}  // namespace cox::apiserver
