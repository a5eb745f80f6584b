// SPDX-License-Identifier: Apache-2.0
#include "object/type/equal.h"

#include "object/type/api_types.h"
#include "object/type/pointer.h"

namespace cox {
namespace {

enum class Compare : uint8_t { kSemantically, kAsWritten };

template <class T>
bool Same(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}

template <Compare kHow>
bool Equal(const Type& type, const void* a, const void* b);

template <Compare kHow>
bool ListsEqual(const Type& type, const void* a, const void* b) {
  ItemSpan x = type.list_ops->items(a);
  ItemSpan y = type.list_ops->items(b);
  if (x.count != y.count) return false;
  for (size_t i = 0; i < x.count; ++i) {
    size_t at = i * type.list_ops->stride;
    if (!Equal<kHow>(*type.element, static_cast<char*>(x.data) + at,
                     static_cast<char*>(y.data) + at)) {
      return false;
    }
  }
  return true;
}

template <Compare kHow>
bool MapsEqual(const Type& type, const void* a, const void* b) {
  const MapOps& ops = *type.map_ops;
  ItemSpan x = ops.Entries(a);
  ItemSpan y = ops.Entries(b);
  if (x.count != y.count) return false;
  for (size_t i = 0; i < x.count; ++i) {
    const char* p = static_cast<char*>(x.data) + i * ops.stride;
    const char* q = static_cast<char*>(y.data) + i * ops.stride;
    if (!Same<std::string>(p, q)) return false;
    if (!Equal<kHow>(*type.element, p + ops.value_offset, q + ops.value_offset)) return false;
  }
  return true;
}

template <Compare kHow>
bool FieldsEqual(const Field& field, const void* a, const void* b) {
  if (field.Has(Field::kPointer)) {
    a = PointedTo(*field.type, a);
    b = PointedTo(*field.type, b);
    if (a == nullptr || b == nullptr) return a == b;
  }
  return Equal<kHow>(*field.type, a, b);
}

template <Compare kHow>
bool QuantitiesEqual(const void* a, const void* b) {
  if (kHow == Compare::kSemantically || !Same<Quantity>(a, b)) return Same<Quantity>(a, b);
  return static_cast<const Quantity*>(a)->ToString() == static_cast<const Quantity*>(b)->ToString();
}

template <Compare kHow>
bool Equal(const Type& type, const void* a, const void* b) {
  switch (type.shape) {
    case Shape::kBool:
      return Same<bool>(a, b);
    case Shape::kInt32:
      return Same<int32_t>(a, b);
    case Shape::kInt64:
      return Same<int64_t>(a, b);
    case Shape::kDouble:
      return Same<double>(a, b);
    case Shape::kString:
    case Shape::kBytes:
      return Same<std::string>(a, b);
    case Shape::kQuantity:
      return QuantitiesEqual<kHow>(a, b);
    case Shape::kIntOrString:
      return Same<IntOrString>(a, b);
    case Shape::kTime:
      return Same<Time>(a, b);
    case Shape::kMicroTime:
      return Same<MicroTime>(a, b);
    case Shape::kDuration:
      return Same<Duration>(a, b);
    case Shape::kRaw:
      return Same<RawJson>(a, b);
    case Shape::kList:
      return ListsEqual<kHow>(type, a, b);
    case Shape::kMap:
      return MapsEqual<kHow>(type, a, b);
    case Shape::kStruct:
      break;
    case Shape::kAny:
      return false;  // structs have no such fields
  }
  for (const Field& field : type.fields) {
    if (field.Has(Field::kFlattened)) continue;  // compared as part of the inlined struct
    if (!FieldsEqual<kHow>(field, static_cast<const char*>(a) + field.offset,
                           static_cast<const char*>(b) + field.offset)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool DeepEqual(const Type& type, const void* a, const void* b) {
  return Equal<Compare::kSemantically>(type, a, b);
}

bool EqualAsWritten(const Type& type, const void* a, const void* b) {
  return Equal<Compare::kAsWritten>(type, a, b);
}

}  // namespace cox
