// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/table.h"

#include "object/codec/json/json.h"

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
  for (const Column& column : columns_) {
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

void TableWriter::AddRow(const Cells& cells, const meta::v1::ObjectMeta& meta,
                         const std::function<Object()>& object) {
  text_ += first_row_ ? "{\"cells\":[" : ",{\"cells\":[";
  first_row_ = false;
  bool first = true;
  for (const Value& cell : cells) {
    if (!first) text_ += ',';
    first = false;
    json::WriteTo(cell, &text_);
  }
  text_ += "],\"object\":";
  switch (include_) {
    case IncludeObject::kNone:
      text_ += "null";
      break;
    case IncludeObject::kObject:
      EncodeObject(object(), Format::kJson, &text_, Embedded::kNamed);
      text_.pop_back();
      break;
    case IncludeObject::kMetadata:
      text_ += R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)";
      text_.append(version_).append("\",\"metadata\":");
      json::Encode(meta::v1::ObjectMeta::kType, &meta, &text_);
      text_ += '}';
      break;
  }
  text_ += '}';
}

std::string TableWriter::End() { return Take() + "]}"; }

}  // namespace cox::apiserver
