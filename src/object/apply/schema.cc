// SPDX-License-Identifier: Apache-2.0
#include "object/apply/schema.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apply {

std::optional<Value> KeyDefault(const Type* item, std::string_view key) {
  if (item == nullptr || item->shape != Shape::kStruct) return std::nullopt;
  const Field* field = item->Find(key);
  if (field == nullptr) return std::nullopt;
  if (field->default_json.empty()) {
    // A struct field that is always present in JSON has its zero value if it is not set.
    const bool always = item->struct_ops != nullptr && !field->Has(Field::kPointer) &&
                        !field->Has(Field::kOmitEmpty);
    if (always && field->type->shape == Shape::kString) return Value("");
    if (always && field->type->shape == Shape::kInt32) return Value(0);
    return std::nullopt;
  }
  Result<Value> value = json::Parse(field->default_json);
  if (!value.ok()) return std::nullopt;
  return std::move(*value);
}

namespace {

bool IsTypeMeta(std::string_view name) { return name == "apiVersion" || name == "kind"; }

Status ItemError(size_t position, std::string_view text) {
  return Status::BadRequest(": element " + std::to_string(position) + ": " + std::string(text));
}

Result<PathElement> NameByKeys(const Value& item, size_t position, const Type& list) {
  if (item.is_null()) {
    return ItemError(position, "associative list with keys may not have a null element");
  }
  if (!item.is_object()) {
    return ItemError(position, "associative list with keys may not have non-map elements");
  }
  Value::Object fields;
  for (std::string_view key : list.keys) {
    if (const Value* value = item.Find(key)) {
      fields.Append(std::string(key), *value);
    } else if (std::optional<Value> standard = KeyDefault(list.element, key)) {
      fields.Append(std::string(key), std::move(*standard));
    }
  }
  fields.Seal();
  if (!fields.empty()) return PathElement::Key(std::move(fields));
  std::string names;
  for (std::string_view key : list.keys) {
    if (!names.empty()) names += ' ';
    AppendQuoted(names, key);
  }
  return ItemError(position,
                   "associative list with keys has an element that omits all key fields [" + names +
                       "] (and doesn't have default values for any key fields)");
}

Result<PathElement> NameByValue(const Value& item, size_t position) {
  switch (item.kind()) {
    case Value::Kind::kNull:
      return ItemError(position,
                       "associative list without keys has an element that's an explicit null");
    case Value::Kind::kObject:
      return ItemError(position, "associative list without keys has an element that's a map type");
    case Value::Kind::kArray:
      return ItemError(position, "not supported: associative list with lists as elements");
    default:
      return PathElement::Item(item);
  }
}

}  // namespace

Form TypeRef::form() const {
  if (type_ == nullptr) return Form::kDeduced;
  switch (type_->shape) {
    case Shape::kAny:
    case Shape::kIntOrString:
      return Form::kDeduced;
    case Shape::kRaw:
      return Form::kAtomic;
    case Shape::kStruct:
      if (type_->codec != Codec::kFields) return Form::kDeduced;
      return atomic_ ? Form::kAtomic : Form::kMembers;
    case Shape::kMap:
      return atomic_ ? Form::kAtomic : Form::kMembers;
    case Shape::kList:
      return type_->list_type == ListType::kAtomic ? Form::kAtomic : Form::kItems;
    default:
      return Form::kScalar;
  }
}

Form TypeRef::FormFor(const Value* a, const Value* b) const {
  Form known = form();
  if (known != Form::kDeduced) return known;
  bool object = (a != nullptr && a->is_object()) || (b != nullptr && b->is_object());
  return object ? Form::kMembers : Form::kAtomic;
}

bool TypeRef::Declares(std::string_view name) const {
  if (type_ == nullptr || type_->shape != Shape::kStruct || type_->codec != Codec::kFields) {
    return false;
  }
  return (type_->type_meta && IsTypeMeta(name)) || type_->Find(name) != nullptr;
}

TypeRef TypeRef::Member(std::string_view name) const {
  if (form() == Form::kDeduced) return TypeRef(types::kAny);
  if (type_->shape == Shape::kMap) {
    return type_->element != nullptr ? TypeRef(*type_->element) : TypeRef(types::kAny);
  }
  if (type_->shape != Shape::kStruct) return TypeRef();
  if (const Field* field = type_->Find(name)) {
    return TypeRef(*field);
  }
  if (type_->type_meta && IsTypeMeta(name)) return TypeRef(types::kString);
  // A struct without declared fields may contain any member.
  bool open = type_->preserve_unknown || type_->fields.empty();
  return open ? TypeRef(types::kAny) : TypeRef();
}

TypeRef TypeRef::Item() const {
  bool known = type_ != nullptr && type_->shape == Shape::kList && type_->element != nullptr;
  return known ? TypeRef(*type_->element) : TypeRef(types::kAny);
}

Result<std::vector<ListItem>> NameItems(const Value::Array& items, TypeRef list) {
  std::vector<ListItem> named;
  named.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    Result<PathElement> element = list.type().list_type == ListType::kMap
                                      ? NameByKeys(items[i], i, list.type())
                                      : NameByValue(items[i], i);
    if (!element.ok()) return element.status();
    named.push_back({std::move(*element), i});
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const ListItem& a, const ListItem& b) { return a.element < b.element; });
  return named;
}

size_t EndOfRun(const std::vector<ListItem>& items, size_t first) {
  size_t end = first + 1;
  while (end < items.size() && items[end].element == items[first].element) ++end;
  return end;
}

bool IsEmptyOrNull(const Value& value) {
  return value.is_null() || (value.is_object() && value.as_object().empty()) ||
         (value.is_array() && value.as_array().empty());
}

}  // namespace cox::apply
