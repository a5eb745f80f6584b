// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "coxswain/apply.h"
#include "object/codec/json/json.h"
#include "sdk/client/edit/zero.h"

namespace cox::internal {
namespace {

void Prune(const Type& type, Value& value, const Type* list);

// True if a field of that type has its zero value.
bool Unset(const Type& type, const Value& value) {
  if (type.shape == Shape::kQuantity && value.is_string()) return value.as_string() == "0";
  if (type.shape == Shape::kDuration && value.is_string()) return value.as_string() == "0s";
  return IsZero(value);
}

bool IsKeyOf(const Type* list, std::string_view name) {
  if (list == nullptr || list->list_type != ListType::kMap) return false;
  for (const std::string_view key : list->keys) {
    if (key == name) return true;
  }
  return false;
}

// `list`: the type of the list that contains the struct. Its merge keys are kept, unless they are
// omitempty: then the server has a default for them.
void PruneStruct(const Type& type, Value& value, const Type* list) {
  ValueObject& object = value.as_object();
  std::vector<std::string> unset;
  for (ValueObject::Member& member : object) {
    const Field* field = type.Find(member.key);
    if (field == nullptr) continue;  // kind and apiVersion
    Prune(*field->type, member.value, nullptr);
    // An optional with a value was set explicitly; unset required pointers are null.
    if (field->Has(Field::kPointer) && !member.value.is_null()) continue;
    if (!Unset(*field->type, member.value)) continue;
    if (IsKeyOf(list, field->name) && !field->Has(Field::kOmitEmpty)) continue;
    unset.push_back(member.key);
  }
  for (const std::string& name : unset) object.Erase(name);
}

void Prune(const Type& type, Value& value, const Type* list) {
  switch (type.shape) {
    case Shape::kStruct:
      // Structs with another codec (a schema that may be a bool or a list) have no fields.
      if (type.codec == Codec::kFields && value.is_object()) PruneStruct(type, value, list);
      return;
    case Shape::kList:
      if (!value.is_array()) return;
      for (Value& item : value.as_array()) Prune(*type.element, item, &type);
      return;
    case Shape::kMap:
      // Map entries are kept even if their value is empty.
      if (!value.is_object()) return;
      for (ValueObject::Member& entry : value.as_object()) {
        Prune(*type.element, entry.value, nullptr);
      }
      return;
    default:
      return;
  }
}

Value ZeroOf(const Type& type) {
  switch (type.shape) {
    case Shape::kBool:
      return false;
    case Shape::kInt32:
    case Shape::kInt64:
    case Shape::kIntOrString:
      return 0;
    case Shape::kDouble:
      return 0.0;
    case Shape::kString:
    case Shape::kBytes:
      return "";
    case Shape::kQuantity:
      return "0";
    case Shape::kDuration:
      return "0s";
    case Shape::kList:
      return Value::MakeArray();
    case Shape::kMap:
    case Shape::kStruct:
      return Value::MakeObject();
    default:
      return {};
  }
}

}  // namespace

std::string FieldNameAt(const Type& type, size_t offset, const Type* member) {
  const Field* found = nullptr;
  for (const Field& field : type.fields) {
    if (field.offset != offset) continue;
    // An inlined struct has the same offset as its first field; the type distinguishes them.
    if (field.Has(Field::kInline)) {
      if (field.type == member) return "";
    } else if (found == nullptr) {
      found = &field;
    }
  }
  if (found != nullptr) return std::string(found->name);
  COX_CHECK(false);
  return "";
}

Value OnlySetFields(const Object& object) {
  Value value = object.ToValue();
  if (value.is_object()) Prune(object.type(), value, nullptr);
  return value;
}

void KeepPath(const Object& object, const std::vector<std::string>& path, Value& out) {
  const Value whole = object.ToValue();
  const Value* from = &whole;
  const Type* type = &object.type();
  Value* to = &out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i].empty()) continue;  // inlined: its fields belong to this struct
    const Field* field = type->shape == Shape::kStruct ? type->Find(path[i]) : nullptr;
    COX_CHECK(field != nullptr);  // the members belong to their structs
    if (!to->is_object()) *to = Value::MakeObject();
    from = from == nullptr ? nullptr : from->Find(path[i]);
    const bool last = i + 1 == path.size();
    Value* member = to->Find(path[i]);
    if (member == nullptr) {
      member = &to->as_object()[path[i]];
      *member = !last ? Value::MakeObject() : from != nullptr ? *from : ZeroOf(*field->type);
    }
    to = member;
    type = field->type;
  }
}

}  // namespace cox::internal
