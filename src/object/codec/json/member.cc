// SPDX-License-Identifier: Apache-2.0
#include "object/codec/json/member.h"

#include <algorithm>

#include "object/type/api_types.h"

namespace cox::json {

bool IsZero(const Type& type, const void* at) {
  switch (type.shape) {
    case Shape::kTime:
      return static_cast<const Time*>(at)->IsZero();
    case Shape::kMicroTime:
      return static_cast<const MicroTime*>(at)->IsZero();
    case Shape::kRaw:
      return static_cast<const RawJson*>(at)->empty();
    case Shape::kQuantity:
      return static_cast<const Quantity*>(at)->IsZero();
    case Shape::kStruct:
      return std::all_of(type.fields.begin(), type.fields.end(), [at](const Field& field) {
        const void* member = static_cast<const char*>(at) + field.offset;
        return field.Has(Field::kPointer) ? PointedTo(*field.type, member) == nullptr
                                          : IsZero(*field.type, member);
      });
    default:
      return IsEmpty(type, at);
  }
}

bool IsNull(const Type& type, const void* at) {
  switch (type.shape) {
    case Shape::kBytes:
    case Shape::kList:
    case Shape::kMap:
      return IsEmpty(type, at);
    case Shape::kTime:
    case Shape::kMicroTime:
    case Shape::kRaw:
      return IsZero(type, at);
    default:
      return false;
  }
}

}  // namespace cox::json
