// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "object/apply/schema.h"
#include "object/apply/typed.h"
#include "object/apply/walk.h"

namespace cox::apply {
namespace {

Status RemoveAt(Value* value, TypeRef ref, const FieldSet& set, int depth);

Status RemoveMembers(Value* value, TypeRef ref, const FieldSet& set, int depth) {
  Value::Object kept;
  for (auto& [key, member] : value->as_object()) {
    const FieldSet::Entry* entry = set.FindField(key);
    if (entry != nullptr && entry->member) continue;
    if (entry != nullptr) {
      COX_RETURN_IF_ERROR(RemoveAt(&member, ref.Member(key), entry->children, depth + 1));
    }
    kept.Append(std::move(key), std::move(member));
  }
  *value = kept.empty() ? Value() : Value(std::move(kept));
  return Status();
}

Status RemoveListItems(Value* value, TypeRef ref, const FieldSet& set, int depth) {
  Value::Array& items = value->as_array();
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> named, NameItems(items, ref));
  std::vector<bool> gone(items.size());
  for (const ListItem& item : named) {
    const FieldSet::Entry* entry = set.Find(item.element);
    if (entry == nullptr) continue;
    gone[item.position] = entry->member;
    if (entry->member) continue;
    COX_RETURN_IF_ERROR(RemoveAt(&items[item.position], ref.Item(), entry->children, depth + 1));
  }
  Value::Array kept;
  kept.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(items[i]));
  }
  *value = kept.empty() ? Value() : Value(std::move(kept));
  return Status();
}

// REQUIRES: set is not empty.
Status RemoveAt(Value* value, TypeRef ref, const FieldSet& set, int depth) {
  if (depth > kMaxWalkDepth) return TooDeep();
  switch (ref.FormFor(value, nullptr)) {
    case Form::kMembers:
      return value->is_object() ? RemoveMembers(value, ref, set, depth) : Status();
    case Form::kItems:
      return value->is_array() ? RemoveListItems(value, ref, set, depth) : Status();
    case Form::kAtomic:
      // Atomic: removing a part removes the whole value.
      if (value->is_object() || value->is_array()) *value = Value();
      return Status();
    default:
      return Status();
  }
}

Result<Value> ExtractAt(const Value& value, TypeRef ref, const FieldSet& set, int depth);

Result<Value> ExtractMembers(const Value& value, TypeRef ref, const FieldSet& set, int depth) {
  Value::Object kept;
  for (const auto& [key, member] : value.as_object()) {
    const FieldSet::Entry* entry = set.FindField(key);
    if (entry == nullptr) continue;
    COX_ASSIGN_OR_RETURN(Value part,
                         ExtractAt(member, ref.Member(key), entry->children, depth + 1));
    kept.Append(key, std::move(part));
  }
  return kept.empty() ? Value() : Value(std::move(kept));
}

Result<Value> ExtractListItems(const Value& value, TypeRef ref, const FieldSet& set, int depth) {
  const Value::Array& items = value.as_array();
  COX_ASSIGN_OR_RETURN(std::vector<ListItem> named, NameItems(items, ref));
  std::sort(named.begin(), named.end(),
            [](const ListItem& a, const ListItem& b) { return a.position < b.position; });
  Value::Array kept;
  for (const ListItem& item : named) {
    const FieldSet::Entry* entry = set.Find(item.element);
    if (entry == nullptr) continue;
    const Value& whole = items[item.position];
    COX_ASSIGN_OR_RETURN(Value part, ExtractAt(whole, ref.Item(), entry->children, depth + 1));
    if (whole.is_object()) {
      // Keep the keys, which identify the item.
      if (!part.is_object()) part = Value::MakeObject();
      for (std::string_view key : ref.type().keys) {
        if (const Value* field = whole.Find(key)) part.as_object()[key] = *field;
      }
    }
    kept.push_back(std::move(part));
  }
  return kept.empty() ? Value() : Value(std::move(kept));
}

Result<Value> ExtractAt(const Value& value, TypeRef ref, const FieldSet& set, int depth) {
  if (depth > kMaxWalkDepth) return TooDeep();
  if (IsEmptyOrNull(value)) return value;
  Form form = ref.FormFor(&value, nullptr);
  if (form == Form::kMembers && value.is_object()) return ExtractMembers(value, ref, set, depth);
  if (form == Form::kItems && value.is_array()) return ExtractListItems(value, ref, set, depth);
  return value;
}

}  // namespace

Result<Value> RemoveItems(Value value, const Type& type, const FieldSet& set) {
  if (!set.Empty()) COX_RETURN_IF_ERROR(RemoveAt(&value, TypeRef(type), set, 0));
  return value;
}

Result<Value> ExtractItems(const Value& value, const Type& type, const FieldSet& set) {
  return ExtractAt(value, TypeRef(type), set, 0);
}

}  // namespace cox::apply
