// SPDX-License-Identifier: Apache-2.0
#include "object/object_size.h"

#include <algorithm>
#include <string>

#include "object/type/api_types.h"
#include "object/type/pointer.h"

namespace cox {
namespace {

// Block sizes of glibc's malloc: an 8-byte header, rounded up to multiples of 16.
size_t Block(size_t bytes) {
  return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

size_t OfString(const std::string& text) {
  constexpr size_t kInside = 15;
  return text.capacity() <= kInside ? 0 : Block(text.capacity() + 1);
}

size_t StructSize(const Type& type);

size_t ShapeSize(const Type& type) {
  switch (type.shape) {
    case Shape::kBool:
      return sizeof(bool);
    case Shape::kInt32:
      return sizeof(int32_t);
    case Shape::kInt64:
    case Shape::kDouble:
      return sizeof(int64_t);
    case Shape::kString:
    case Shape::kBytes:
    case Shape::kRaw:
      return sizeof(std::string);
    case Shape::kQuantity:
      return sizeof(Quantity);
    case Shape::kIntOrString:
      return sizeof(IntOrString);
    case Shape::kTime:
    case Shape::kMicroTime:
      return sizeof(Time);
    case Shape::kDuration:
      return sizeof(Duration);
    case Shape::kStruct:
      return StructSize(type);
    case Shape::kList:
    case Shape::kMap:
      return sizeof(std::vector<char>);
    case Shape::kAny:
      return sizeof(Value);
  }
  return 0;
}

// Type tables contain field offsets but no struct size: compute the end of the last field.
size_t StructSize(const Type& type) {
  size_t end = 0;
  for (const Field& field : type.fields) {
    const size_t size = field.Has(Field::kPointer) && field.type->shape == Shape::kStruct
                            ? sizeof(void*)
                            : ShapeSize(*field.type);
    end = std::max(end, field.offset + size);
  }
  return (end + 7) / 8 * 8;
}

size_t OfValue(const Value& value) {
  size_t size = 0;
  if (value.is_string()) {
    constexpr size_t kInside = 8;
    size = value.as_string().size() <= kInside ? 0 : Block(value.as_string().size());
  } else if (value.is_array()) {
    size = Block(sizeof(Value::Array)) + Block(value.as_array().size() * sizeof(Value));
    for (const Value& item : value.as_array()) size += OfValue(item);
  } else if (value.is_object()) {
    size =
        Block(sizeof(ValueObject)) + Block(value.as_object().size() * sizeof(ValueObject::Member));
    for (const auto& [key, member] : value.as_object()) size += OfString(key) + OfValue(member);
  }
  return size;
}

// Memory owned by the value at `at`, without the value itself.
size_t Beyond(const Type& type, const void* at);

size_t BeyondFields(const Type& type, const void* at) {
  size_t size = 0;
  for (const Field& field : type.fields) {
    if (field.Has(Field::kInline)) continue;  // its fields are also listed here, flattened
    const void* member = static_cast<const char*>(at) + field.offset;
    if (field.Has(Field::kPointer)) {
      member = PointedTo(*field.type, member);
      if (member == nullptr) continue;
      if (field.type->shape == Shape::kStruct) size += Block(StructSize(*field.type));
    }
    size += Beyond(*field.type, member);
  }
  return size;
}

size_t Beyond(const Type& type, const void* at) {
  switch (type.shape) {
    case Shape::kString:
    case Shape::kBytes:
      return OfString(*static_cast<const std::string*>(at));
    case Shape::kRaw:
      return OfString(static_cast<const RawJson*>(at)->raw);
    case Shape::kStruct:
      return BeyondFields(type, at);
    case Shape::kList: {
      const ItemSpan items = type.list_ops->items(at);
      size_t size = Block(items.count * type.list_ops->stride);
      for (size_t i = 0; i < items.count; ++i) {
        size += Beyond(*type.element, static_cast<char*>(items.data) + i * type.list_ops->stride);
      }
      return size;
    }
    case Shape::kMap: {
      const MapOps& ops = *type.map_ops;
      const ItemSpan entries = ops.Entries(at);
      size_t size = Block(entries.count * ops.stride);
      for (size_t i = 0; i < entries.count; ++i) {
        const char* entry = static_cast<char*>(entries.data) + i * ops.stride;
        size += OfString(*reinterpret_cast<const std::string*>(entry));
        size += Beyond(*type.element, entry + ops.value_offset);
      }
      return size;
    }
    case Shape::kAny:
      return OfValue(*static_cast<const Value*>(at));
    default:
      return 0;
  }
}

}  // namespace

size_t SizeInMemory(const Object& object) {
  // With the control block of make_shared.
  const size_t self = Block(sizeof(Object) + 2 * sizeof(void*));
  if (!object.is_typed()) return self + OfValue(object.value());
  return self + Block(StructSize(object.type())) + Beyond(object.type(), object.data());
}

}  // namespace cox
