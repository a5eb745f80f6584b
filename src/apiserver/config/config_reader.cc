// SPDX-License-Identifier: Apache-2.0
#include "apiserver/config/config_reader.h"

#include <algorithm>

#include "base/strings.h"
#include "object/codec/json/text.h"
#include "object/codec/yaml/yaml.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kWhole = "*";

std::string_view Name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kBool:
      return "true or false";
    case Value::Kind::kInt:
      return "a whole number";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kArray:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
    default:
      return "a value";
  }
}

std::string Child(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string Item(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace

std::string ConfigObject::PathOf(std::string_view name) const {
  return name.empty() ? path_ : Child(path_, name);
}

const Value* ConfigObject::Find(std::string_view name) const {
  if (value_ == nullptr) return nullptr;
  document_->known_fields_[value_].emplace(name);
  const Value* found = value_->Find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

const Value* ConfigObject::Find(std::string_view name, Value::Kind kind) const {
  const Value* found = Find(name);
  if (found == nullptr || found->kind() == kind) return found;
  Fail(name, "must be " + std::string(Name(kind)));
  return nullptr;
}

void ConfigObject::Fail(std::string_view name, std::string_view message) const {
  const std::string path = PathOf(name);
  document_->errors_.push_back(path.empty() ? std::string(message)
                                            : path + ": " + std::string(message));
}

bool ConfigObject::Has(std::string_view name) const { return Find(name) != nullptr; }

std::string ConfigObject::String(std::string_view name, std::string_view fallback) const {
  const Value* found = Find(name, Value::Kind::kString);
  return std::string(found == nullptr ? fallback : found->as_string());
}

std::string ConfigObject::RequiredString(std::string_view name) const {
  const size_t before = document_->errors_.size();
  std::string text = String(name);
  if (text.empty() && document_->errors_.size() == before) Fail(name, "Required value");
  return text;
}

std::string ConfigObject::Choice(std::string_view name,
                                 std::initializer_list<std::string_view> allowed,
                                 std::string_view fallback) const {
  std::string text = String(name, fallback);
  if (!Find(name) || std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return text;
  Fail(name, "must be one of " + Join(allowed, ", ") + ", not " + Quote(text));
  return std::string(fallback);
}

bool ConfigObject::Bool(std::string_view name, bool fallback) const {
  const Value* found = Find(name, Value::Kind::kBool);
  return found == nullptr ? fallback : found->as_bool();
}

int64_t ConfigObject::Int(std::string_view name, int64_t fallback, int64_t min, int64_t max) const {
  const Value* found = Find(name, Value::Kind::kInt);
  if (found == nullptr) return fallback;
  if (found->as_int() >= min && found->as_int() <= max) return found->as_int();
  Fail(name, "must be from " + std::to_string(min) + " to " + std::to_string(max));
  return fallback;
}

Duration ConfigObject::Time(std::string_view name, Duration fallback) const {
  const Value* found = Find(name, Value::Kind::kString);
  if (found == nullptr) return fallback;
  const Result<Duration> duration = Duration::Parse(found->as_string());
  if (duration.ok()) return *duration;
  Fail(name, "must be a duration such as 30s or 1h");
  return fallback;
}

std::vector<std::string> ConfigObject::Strings(std::string_view name) const {
  std::vector<std::string> strings;
  const Value* found = Find(name, Value::Kind::kArray);
  if (found == nullptr) return strings;
  for (const Value& item : found->as_array()) {
    if (item.is_string()) {
      strings.emplace_back(item.as_string());
    } else {
      Fail(Item(std::string(name), strings.size()), "must be a string");
      break;
    }
  }
  return strings;
}

std::string ConfigObject::Bytes(std::string_view name) const {
  std::string bytes;
  const Value* found = Find(name, Value::Kind::kString);
  size_t bad_at = 0;
  if (found != nullptr && !json::ReadBase64(found->as_string(), &bytes, &bad_at)) {
    // The message omits the value, which may be a key.
    Fail(name, "must be base64");
    return {};
  }
  return bytes;
}

ConfigObject ConfigObject::Object(std::string_view name) const {
  const Value* found = Find(name, Value::Kind::kObject);
  if (found != nullptr) document_->known_fields_[found];
  return {*document_, found, PathOf(name)};
}

std::vector<ConfigObject> ConfigObject::Objects(std::string_view name) const {
  std::vector<ConfigObject> objects;
  const Value* found = Find(name, Value::Kind::kArray);
  if (found == nullptr) return objects;
  const std::string path = PathOf(name);
  for (const Value& item : found->as_array()) {
    const size_t index = static_cast<size_t>(&item - found->as_array().data());
    if (item.is_object()) {
      document_->known_fields_[&item];
      objects.push_back({*document_, &item, Item(path, index)});
    } else {
      Fail(Item(std::string(name), index), "must be an object");
    }
  }
  return objects;
}

const Value* ConfigObject::Raw(std::string_view name) const {
  const Value* found = Find(name);
  if (found != nullptr) document_->known_fields_[found].emplace(kWhole);
  return found;
}

Result<ConfigDocument> ConfigDocument::Parse(std::string_view text, std::string_view kind,
                                             std::initializer_list<std::string_view> versions) {
  json::Strictness strict;
  COX_ASSIGN_OR_RETURN(Value value, yaml::Parse(text, &strict));
  if (!strict.errors.empty()) return Status::BadRequest(strict.errors.front());
  return Of(std::move(value), kind, versions);
}

Result<ConfigDocument> ConfigDocument::Of(Value value, std::string_view kind,
                                          std::initializer_list<std::string_view> versions) {
  if (!value.is_object()) return Status::BadRequest("want an object of kind " + std::string(kind));
  ConfigDocument document(std::move(value));
  document.api_version_ = document.root().String("apiVersion");
  const std::string given = document.root().String("kind");
  const bool known =
      std::find(versions.begin(), versions.end(), document.api_version_) != versions.end();
  if (given != kind || !known) {
    return Status::BadRequest("no kind " + Quote(given) + " in apiVersion " +
                              Quote(document.api_version_) + ": want " + std::string(kind) +
                              " of " + Join(versions, " or "));
  }
  return document;
}

void ConfigDocument::FindUnread(const Value& value, const std::string& path,
                                std::vector<std::string>& errors) const {
  const auto asked = known_fields_.find(&value);
  if (value.is_array()) {
    if (asked != known_fields_.end()) return;  // read as a whole
    for (size_t i = 0; i < value.as_array().size(); ++i) {
      FindUnread(value.as_array()[i], Item(path, i), errors);
    }
    return;
  }
  if (!value.is_object() || asked == known_fields_.end() || asked->second.contains(kWhole)) return;
  for (const ValueObject::Member& member : value.as_object()) {
    const std::string member_path = Child(path, member.key);
    if (asked->second.contains(member.key)) {
      FindUnread(member.value, member_path, errors);
    } else {
      errors.push_back("unknown field " + Quote(member_path));
    }
  }
}

Status ConfigDocument::Finish() const {
  std::vector<std::string> errors = errors_;
  FindUnread(value_.front(), "", errors);
  return errors.empty() ? Status() : Status::BadRequest(Join(errors, "; "));
}

}  // namespace cox::apiserver
