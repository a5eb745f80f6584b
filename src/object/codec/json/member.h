// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/type/pointer.h"
#include "object/type/type.h"

// Which fields of a struct are members of its JSON object. The functions are inline,
// because encoders call them for each field.
namespace cox::json {

// Whether a field with Go's option omitempty and this value is omitted. Structs never are, and so
// neither are Time, Quantity and RawExtension.
inline bool IsEmpty(const Type& type, const void* at) {
  switch (type.shape) {
    case Shape::kBool:
      return !*static_cast<const bool*>(at);
    case Shape::kInt32:
      return *static_cast<const int32_t*>(at) == 0;
    case Shape::kInt64:
      return *static_cast<const int64_t*>(at) == 0;
    case Shape::kDouble:
      return *static_cast<const double*>(at) == 0;
    case Shape::kString:
    case Shape::kBytes:
      return static_cast<const std::string*>(at)->empty();
    case Shape::kList:
      return type.list_ops->items(at).count == 0;
    case Shape::kMap:
      return type.map_ops->Entries(at).count == 0;
    default:
      return false;
  }
}

// Whether a field with Go's option omitzero and this value is omitted.
bool IsZero(const Type& type, const void* at);

// Whether the value is null in JSON: empty lists, maps and bytes, and zero times.
bool IsNull(const Type& type, const void* at);

struct Member {
  bool present = false;
  const void* value = nullptr;  // null, if present: the JSON value is null
};
// REQUIRES: not Field::kInline.
inline Member MemberAt(const Field& field, const void* object) {
  const Type& type = *field.type;
  const void* const at = static_cast<const char*>(object) + field.offset;
  if (field.Has(Field::kPointer)) {
    const void* const value = PointedTo(type, at);
    const bool omits = field.Has(Field::kOmitEmpty) || field.Has(Field::kOmitZero);
    return {value != nullptr || !omits, value};
  }
  if (field.Has(Field::kOmitEmpty) && IsEmpty(type, at)) return {};
  if (field.Has(Field::kOmitZero) && IsZero(type, at)) return {};
  return {true, at};
}

}  // namespace cox::json
