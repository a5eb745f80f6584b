// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/fields.h"

#include "object/codec/json/text.h"

namespace cox::sdk {

Fields::Fields(const Value* value) : value_(value) {
  if (value_ != nullptr && value_->is_null()) value_ = nullptr;
  if (value_ != nullptr && !value_->is_object()) status_ = Status::BadRequest("must be an object");
}

void Fields::Fail(std::string_view name, std::string_view why) {
  if (status_.ok()) status_ = Status::BadRequest(std::string(name) + ": " + std::string(why));
}

const Value* Fields::Find(std::string_view name) const {
  const Value* const found = value_ == nullptr ? nullptr : value_->Find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const Value* Fields::Find(std::string_view name, Value::Kind kind, std::string_view kind_name) {
  const Value* const found = Find(name);
  if (found == nullptr || found->kind() == kind) return found;
  Fail(name, "must be " + std::string(kind_name));
  return nullptr;
}

std::string Fields::Text(std::string_view name) {
  const Value* const found = Find(name, Value::Kind::kString, "a string");
  return found == nullptr ? "" : std::string(found->as_string());
}

bool Fields::Flag(std::string_view name) {
  const Value* const found = Find(name, Value::Kind::kBool, "true or false");
  return found != nullptr && found->as_bool();
}

std::vector<std::string> Fields::Texts(std::string_view name) {
  std::vector<std::string> texts;
  const Value* const found = Find(name, Value::Kind::kArray, "a list of strings");
  if (found == nullptr) return texts;
  for (const Value& item : found->as_array()) {
    if (item.is_string()) {
      texts.emplace_back(item.as_string());
    } else {
      Fail(name, "must be a list of strings");
    }
  }
  return texts;
}

std::string Fields::Base64(std::string_view name) {
  std::string bytes;
  size_t bad_at = 0;
  if (!json::ReadBase64(Text(name), &bytes, &bad_at)) {
    Fail(name, "illegal base64 data at input byte " + std::to_string(bad_at));
  }
  return bytes;
}

std::filesystem::path Fields::Path(std::string_view name, const std::filesystem::path& folder) {
  const std::string text = Text(name);
  return text.empty() ? std::filesystem::path() : folder / text;
}

const Value* Fields::Object(std::string_view name) {
  return Find(name, Value::Kind::kObject, "an object");
}

std::vector<const Value*> Fields::Objects(std::string_view name) {
  std::vector<const Value*> objects;
  const Value* const found = Find(name, Value::Kind::kArray, "a list of objects");
  if (found == nullptr) return objects;
  for (const Value& item : found->as_array()) {
    if (item.is_object()) {
      objects.push_back(&item);
    } else {
      Fail(name, "must be a list of objects");
    }
  }
  return objects;
}

}  // namespace cox::sdk
