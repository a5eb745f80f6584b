// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/yaml.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "object/codec/yaml/composer.h"

namespace cox::yaml {

Result<Value> Parse(std::string_view text, json::Strictness* strict) {
  Composer composer(text, strict != nullptr);
  Result<Value> value = composer.Compose();
  if (strict != nullptr && value.ok()) {
    if (std::string error = composer.strict_error(); !error.empty()) {
      strict->errors.push_back(std::move(error));
    }
  }
  return value;
}

bool Documents::Next(std::string_view* document) {
  constexpr std::string_view kSeparator = "---";
  if (!status_.ok()) return false;
  std::string_view rest = rest_;
  size_t size = 0;
  while (size < rest.size()) {
    std::string_view line = rest.substr(size);
    line = line.substr(0, std::min(line.find('\n'), line.size() - 1) + 1);
    if (line.starts_with(kSeparator)) {
      std::string_view after = TrimSpace(line.substr(kSeparator.size()));
      if (!after.empty() && !after.starts_with('#')) {
        status_ = Status::BadRequest("invalid Yaml document separator: " + std::string(after));
        return false;
      }
      // Before the first document, the separator is left in the document, as its start marker.
      if (size > 0) {
        *document = rest.substr(0, size);
        rest_ = rest.substr(size + line.size());
        return true;
      }
    }
    size += line.size();
  }
  *document = rest;
  rest_ = {};
  return size > 0;
}

Result<std::vector<Value>> ParseAll(std::string_view text, json::Strictness* strict) {
  std::vector<Value> values;
  Documents documents(text);
  for (std::string_view document; documents.Next(&document);) {
    COX_ASSIGN_OR_RETURN(Value value, yaml::Parse(document, strict));
    if (!value.is_null()) values.push_back(std::move(value));
  }
  COX_RETURN_IF_ERROR(documents.status());
  return values;
}

Status Decode(std::string_view text, const Type& type, void* object, json::Strictness* strict) {
  COX_ASSIGN_OR_RETURN(Value value, yaml::Parse(text, strict));
  return json::FromValue(value, type, object, strict);
}

void Encode(const Type& type, const void* object, std::string* out, const json::TypeMeta* meta) {
  Value value = json::ToValue(type, object);
  if (meta != nullptr && value.is_object()) {
    if (!meta->api_version.empty()) value.as_object()["apiVersion"] = meta->api_version;
    if (!meta->kind.empty()) value.as_object()["kind"] = meta->kind;
  }
  WriteTo(value, out);
}

}  // namespace cox::yaml
