// SPDX-License-Identifier: Apache-2.0
#include "coxswain/options.h"
#include "object/codec/json/json.h"
#include "object/patch/merge_patch.h"
#include "object/type/equal.h"
#include "object/type/pointer.h"
#include "sdk/client/edit/zero.h"

namespace cox::internal {
namespace {

const void* At(const void* object, const Field& field) {
  const void* at = static_cast<const char*>(object) + field.offset;
  return field.Has(Field::kPointer) ? PointedTo(*field.type, at) : at;
}

// The field's JSON value; null if JSON omits it.
Value Shown(const Field& field, const void* at) {
  if (at == nullptr) return {};
  Value value = json::ToValue(*field.type, at);
  // Map entries are patched individually, so that entries added by other writers are kept.
  if (field.type->shape == Shape::kMap && value.is_null()) return Value::MakeObject();
  const bool left_out = !field.Has(Field::kPointer) &&
                        (field.Has(Field::kOmitEmpty) || field.Has(Field::kOmitZero)) &&
                        !value.is_object() && IsZero(value);
  return left_out ? Value() : value;
}

Value Difference(const Value& before, Value after) {
  if (!before.is_object() || !after.is_object()) return after;
  Result<Value> patch = patch::CreateMergePatch(before, after);
  // Fails only for documents deeper than any API type: these are sent completely.
  if (!patch.ok()) return after;
  return std::move(*patch);
}

}  // namespace

std::string MergeBetween(const Type& type, const void* before, const void* after, bool optimistic) {
  Value patch = Value::MakeObject();
  for (const Field& field : type.fields) {
    if (field.Has(Field::kInline)) continue;
    const void* old_at = At(before, field);
    const void* new_at = At(after, field);
    // Skip unchanged fields before the expensive conversion to Value.
    if (old_at == nullptr && new_at == nullptr) continue;
    if (old_at != nullptr && new_at != nullptr && DeepEqual(*field.type, old_at, new_at)) continue;
    Value old_value = Shown(field, old_at);
    Value new_value = Shown(field, new_at);
    if (old_value.is_null() && new_value.is_null()) continue;
    Value difference = Difference(std::move(old_value), std::move(new_value));
    if (difference.is_object() && difference.as_object().empty() && old_at != nullptr) continue;
    patch.as_object()[field.name] = std::move(difference);
  }
  if (patch.as_object().empty()) return "";
  if (optimistic) {
    const Field* metadata = type.Find("metadata");
    const Value old = metadata == nullptr ? Value() : Shown(*metadata, At(before, *metadata));
    if (const Value* version = old.Find("resourceVersion")) {
      Value& to = patch.as_object()["metadata"];
      if (!to.is_object()) to = Value::MakeObject();
      to.as_object()["resourceVersion"] = *version;
    }
  }
  return json::Write(patch);
}

std::string MergeBetween(const Value& before, const Value& after, bool optimistic) {
  Value patch = Difference(before, after);
  if (!patch.is_object() || patch.as_object().empty()) return "";
  if (const Value* version = before.At({"metadata", "resourceVersion"}); optimistic && version) {
    Value& to = patch.as_object()["metadata"];
    if (!to.is_object()) to = Value::MakeObject();
    to.as_object()["resourceVersion"] = *version;
  }
  return json::Write(patch);
}

}  // namespace cox::internal
