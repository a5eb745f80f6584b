// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "object/codec/json/json.h"
#include "object/runtime_type.h"
#include "object/type/limits.h"

namespace cox {
namespace {

bool IsTypeMeta(std::string_view name) { return name == "apiVersion" || name == "kind"; }

class Pruner {
 public:
  std::vector<std::string> Take() { return std::move(pruned_); }

  void Visit(Value& value, const Type& type, int depth) {
    if (depth > limits::kMaxTypedDepth) return;
    if (value.is_object() && type.shape == Shape::kStruct) {
      VisitStruct(value.as_object(), type, depth);
    } else if (value.is_object() && type.shape == Shape::kMap) {
      for (auto& [key, member] : value.as_object()) Enter(key, member, *type.element, depth);
    } else if (value.is_array() && type.shape == Shape::kList) {
      for (size_t i = 0; i < value.as_array().size(); ++i) {
        size_t length = path_.size();
        path_ += '[' + std::to_string(i) + ']';
        Visit(value.as_array()[i], *type.element, depth + 1);
        path_.resize(length);
      }
    }
  }

 private:
  void VisitStruct(Value::Object& object, const Type& type, int depth) {
    if (type.codec != Codec::kFields) return;
    std::vector<std::string> unknown;
    for (auto& [key, member] : object) {
      if (const Field* field = type.Find(key)) {
        Enter(key, member, *field->type, depth);
      } else if (!type.preserve_unknown && !(type.type_meta && IsTypeMeta(key))) {
        unknown.push_back(key);
      }
    }
    if (unknown.empty()) return;
    for (const std::string& key : unknown) {
      if (pruned_.size() < limits::kMaxStrictErrors) pruned_.push_back(PathTo(key));
    }
    // In one pass: single erasures would take quadratic time for a malicious object.
    Value::Object kept;
    auto next = unknown.begin();
    for (auto& [key, member] : object) {
      if (next != unknown.end() && *next == key) {
        ++next;
      } else {
        kept.Append(std::move(key), std::move(member));
      }
    }
    object = std::move(kept);
  }

  std::string PathTo(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + '.' + std::string(key);
  }

  void Enter(std::string_view key, Value& value, const Type& type, int depth) {
    size_t length = path_.size();
    if (length != 0) path_ += '.';
    path_ += key;
    Visit(value, type, depth + 1);
    path_.resize(length);
  }

  std::string path_;
  std::vector<std::string> pruned_;
};

void Default(Value& value, const Type& type, int depth);

void DefaultStruct(Value::Object& object, const Type& type, int depth) {
  for (const Field& field : type.fields) {
    Value* member = object.Find(field.name);
    bool missing = member == nullptr || (member->is_null() && !field.Has(Field::kPointer));
    if (missing && field.default_json.empty()) {
      if (member != nullptr) object.Erase(field.name);
      continue;
    }
    if (missing) {
      Result<Value> standard = json::Parse(field.default_json);
      if (!standard.ok()) continue;
      member = &(object[field.name] = std::move(*standard));
    }
    Default(*member, *field.type, depth + 1);
  }
}

void Default(Value& value, const Type& type, int depth) {
  if (depth > limits::kMaxTypedDepth) return;
  if (value.is_object() && type.shape == Shape::kStruct) {
    DefaultStruct(value.as_object(), type, depth);
  } else if (value.is_object() && type.shape == Shape::kMap) {
    for (auto& [key, member] : value.as_object()) Default(member, *type.element, depth + 1);
  } else if (value.is_array() && type.shape == Shape::kList) {
    for (Value& item : value.as_array()) Default(item, *type.element, depth + 1);
  }
}

}  // namespace

std::vector<std::string> Prune(Value& value, const Type& type) {
  Pruner pruner;
  pruner.Visit(value, type, 0);
  return pruner.Take();
}

void ApplyDefaults(Value& value, const Type& type) { Default(value, type, 0); }

}  // namespace cox
