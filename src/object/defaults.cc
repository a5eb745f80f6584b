// SPDX-License-Identifier: Apache-2.0
#include "object/defaults.h"

#include "base/check.h"
#include "object/codec/json/json.h"
#include "object/codec/json/member.h"
#include "object/type/api_types.h"
#include "object/type/pointer.h"

namespace cox {
namespace {

void DefaultField(const Field& field, void* at) {
  const void* value = field.Has(Field::kPointer) ? PointedTo(*field.type, at) : at;
  bool absent =
      value == nullptr || (!field.Has(Field::kPointer) && json::IsEmpty(*field.type, value));
  if (!field.default_json.empty() && absent) {
    void* to = field.Has(Field::kPointer) ? EnsurePointedTo(*field.type, at) : at;
    COX_CHECK(json::Decode(field.default_json, *field.type, to)
                  .ok());  // the tables are generated: a bad default is a bug
    return;
  }
  if (value != nullptr) ApplyDefaults(*field.type, const_cast<void*>(value));
}

}  // namespace

void ApplyDefaults(const Type& type, void* object) {
  if (type.shape == Shape::kList && !type.element->IsScalar()) {
    ItemSpan items = type.list_ops->items(object);
    for (size_t i = 0; i < items.count; ++i) {
      ApplyDefaults(*type.element, static_cast<char*>(items.data) + i * type.list_ops->stride);
    }
  } else if (type.shape == Shape::kMap && !type.element->IsScalar()) {
    ItemSpan entries = type.map_ops->Entries(object);
    for (size_t i = 0; i < entries.count; ++i) {
      ApplyDefaults(*type.element, static_cast<char*>(entries.data) + i * type.map_ops->stride +
                                       type.map_ops->value_offset);
    }
  } else if (type.shape == Shape::kStruct) {
    for (const Field& field : type.fields) {
      if (!field.Has(Field::kFlattened))
        DefaultField(field, static_cast<char*>(object) + field.offset);
    }
  }
}

}  // namespace cox
