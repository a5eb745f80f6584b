// SPDX-License-Identifier: Apache-2.0
#include "object/apply/changed_parts.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "object/apply/schema.h"
#include "object/codec/json/json.h"
#include "object/codec/json/member.h"
#include "object/type/equal.h"

namespace cox::apply {
namespace {

constexpr std::string_view kKeptMetadata[] = {"managedFields", "name", "namespace", "uid"};

Value ToValue(const Type& type, const json::Member& member) {
  return member.value == nullptr ? Value() : json::ToValue(type, member.value);
}

ChangedParts Find(const Type& type, const void* before, const void* after,
                  std::span<const std::string_view> kept, bool top) {
  Value::Object old_members;
  Value::Object new_members;
  const auto add = [](Value::Object& members, const Field& field, Value value) {
    members.Append(std::string(field.name), std::move(value));
  };
  for (const Field& field : type.fields) {
    if (field.Has(Field::kInline)) continue;
    const json::Member old_member = json::MemberAt(field, before);
    const json::Member new_member = json::MemberAt(field, after);
    if (old_member.value != nullptr && new_member.value != nullptr) {
      const bool keeps = std::find(kept.begin(), kept.end(), field.name) != kept.end();
      const bool metadata = top && field.name == "metadata";
      if (!keeps && !metadata && EqualAsWritten(*field.type, old_member.value, new_member.value)) {
        continue;
      }
      if (field.type->shape == Shape::kStruct && TypeRef(field).form() == Form::kMembers) {
        ChangedParts inner =
            Find(*field.type, old_member.value, new_member.value,
                 metadata ? kKeptMetadata : std::span<const std::string_view>(), false);
        add(old_members, field, std::move(inner.before));
        add(new_members, field, std::move(inner.after));
        continue;
      }
    } else if (old_member.present && new_member.present && old_member.value == new_member.value) {
      continue;  // both are null
    }
    if (old_member.present) add(old_members, field, ToValue(*field.type, old_member));
    if (new_member.present) add(new_members, field, ToValue(*field.type, new_member));
  }
  old_members.Seal();
  new_members.Seal();
  return {Value(std::move(old_members)), Value(std::move(new_members))};
}

}  // namespace

ChangedParts FindChangedParts(const Type& type, const void* before, const void* after) {
  return Find(type, before, after, {}, true);
}

}  // namespace cox::apply
