// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/table.h"

#include "object/json/json.h"

namespace cox::apiserver {

void TableWriter::Begin(std::string_view metadata, bool with_columns) {
  text_ = R"({"kind":"Table","apiVersion":"meta.k8s.io/)";
  text_.append(version_).append("\",").append(metadata).append(",\"columnDefinitions\":");
  if (with_columns) {
    AddColumns();
  } else {
    text_ += "null";
  }
  text_ += ",\"rows\":[";
}

void TableWriter::AddColumns() {
  text_ += '[';
  bool first = true;
  for (const Column& column : resource_.strategy().Columns()) {
    text_ += first ? "{\"name\":" : ",{\"name\":";
    first = false;
    json::WriteString(column.name, &text_);
    text_ += ",\"type\":";
    json::WriteString(column.type, &text_);
    text_ += ",\"format\":";
    json::WriteString(column.format, &text_);
    text_ += ",\"description\":";
    json::WriteString(column.description, &text_);
    text_.append(",\"priority\":").append(std::to_string(column.priority)).append("}");
  }
  text_ += ']';
}

void TableWriter::AddRow(const Object& hub) {
  text_ += first_row_ ? "{\"cells\":[" : ",{\"cells\":[";
  first_row_ = false;
  bool first = true;
  for (const Value& cell : resource_.strategy().Row(hub, now_)) {
    if (!first) text_ += ',';
    first = false;
    json::WriteTo(cell, &text_);
  }
  text_ += ']';
  if (include_ == IncludeObject::kObject) {
    text_ += ",\"object\":";
    EncodeObject(resource_.FromHub(hub), Format::kJson, &text_);
    text_.pop_back();
  } else if (include_ == IncludeObject::kMetadata) {
    text_ += R"(,"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)";
    text_.append(version_).append("\",\"metadata\":");
    meta::v1::ObjectMeta meta = *hub.object_meta();
    resource_.strategy().TrimPartialMetadata(meta);
    json::Encode(meta::v1::ObjectMeta::kType, &meta, &text_);
    text_ += '}';
  } else {
    text_ += ",\"object\":null";
  }
  text_ += '}';
}

std::string TableWriter::End() { return std::move(text_) + "]}"; }

}  // namespace cox::apiserver
