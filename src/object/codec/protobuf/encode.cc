// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "object/codec/protobuf/protobuf.h"
#include "object/codec/protobuf/wire.h"
#include "object/type/api_types.h"
#include "object/type/pointer.h"

namespace cox::proto {
namespace {

void Struct(const Type& type, const void* object, BackWriter* out);

// Field numbers in the messages that represent single values.
constexpr uint32_t kQuantityString = 1, kIntOrStringType = 1, kIntOrStringInt = 2,
                   kIntOrStringString = 3, kTimeSeconds = 1, kTimeNanos = 2, kDurationNanos = 1,
                   kRawBytes = 1, kItems = 1, kMapKey = 1, kMapValue = 2;

void Timestamp(const Instant& time, int32_t nanos, BackWriter* out) {
  if (time.IsZero()) return;  // an empty message
  out->VarintField(kTimeNanos, static_cast<uint64_t>(nanos));
  out->VarintField(kTimeSeconds, static_cast<uint64_t>(time.unix_seconds()));
}

// The content of a value that is encoded as a message.
void Message(const Type& type, const void* at, BackWriter* out) {
  switch (type.shape) {
    case Shape::kQuantity:
      return out->BytesField(kQuantityString, static_cast<const Quantity*>(at)->ToString());
    case Shape::kIntOrString: {
      const auto& value = *static_cast<const IntOrString*>(at);
      out->BytesField(kIntOrStringString, value.string_value());
      out->VarintField(kIntOrStringInt,
                       static_cast<uint64_t>(static_cast<int64_t>(value.int_value())));
      return out->VarintField(kIntOrStringType, value.is_string() ? 1 : 0);
    }
    case Shape::kTime:
      return Timestamp(*static_cast<const Time*>(at), 0, out);  // in seconds, as in JSON
    case Shape::kMicroTime: {
      const auto& time = *static_cast<const MicroTime*>(at);
      return Timestamp(time, time.nanos() / 1000 * 1000, out);
    }
    case Shape::kDuration:
      return out->VarintField(kDurationNanos,
                              static_cast<uint64_t>(static_cast<const Duration*>(at)->nanos));
    case Shape::kRaw: {
      const auto& raw = static_cast<const RawJson*>(at)->raw;
      if (!raw.empty()) out->BytesField(kRawBytes, raw);
      return;
    }
    case Shape::kStruct:
      return Struct(type, at, out);
    default:  // kList with wire_items
      ItemSpan items = type.list_ops->items(at);
      for (size_t i = items.count; i-- > 0;)
        out->BytesField(kItems, static_cast<const std::string*>(items.data)[i]);
  }
}

// One value with its tag.
void Value(const Type& type, uint32_t number, const void* at, BackWriter* out) {
  switch (type.shape) {
    case Shape::kBool:
      return out->VarintField(number, *static_cast<const bool*>(at) ? 1 : 0);
    case Shape::kInt32:
      // Negative numbers take ten bytes, as defined for int32 in protobuf.
      return out->VarintField(
          number, static_cast<uint64_t>(static_cast<int64_t>(*static_cast<const int32_t*>(at))));
    case Shape::kInt64:
      return out->VarintField(number, static_cast<uint64_t>(*static_cast<const int64_t*>(at)));
    case Shape::kDouble:
      out->Fixed64(std::bit_cast<uint64_t>(*static_cast<const double*>(at)));
      return out->Tag(number, WireType::kFixed64);
    case Shape::kString:
    case Shape::kBytes:
      return out->BytesField(number, *static_cast<const std::string*>(at));
    default:
      size_t before = out->size();
      Message(type, at, out);
      out->MessageField(number, before);
  }
}

void List(const Type& type, uint32_t number, const void* list, BackWriter* out) {
  ItemSpan items = type.list_ops->items(list);
  if (type.wire_items) {
    if (items.count > 0) Value(type, number, list, out);
    return;
  }
  for (size_t i = items.count; i-- > 0;) {
    Value(*type.element, number, static_cast<const char*>(items.data) + i * type.list_ops->stride,
          out);
  }
}

void Entries(const Type& type, uint32_t number, const void* map, BackWriter* out) {
  ItemSpan entries = type.map_ops->Entries(map);
  for (size_t i = entries.count; i-- > 0;) {
    const char* entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
    size_t before = out->size();
    Value(*type.element, kMapValue, entry + type.map_ops->value_offset, out);
    out->BytesField(kMapKey, *reinterpret_cast<const std::string*>(entry));
    out->MessageField(number, before);
  }
}

void Struct(const Type& type, const void* object, BackWriter* out) {
  for (size_t i = type.wire.size(); i-- > 0;) {
    const Field& field = type.fields[type.wire[i]];
    const void* at = static_cast<const char*>(object) + field.offset;
    if (field.Has(Field::kPointer)) at = PointedTo(*field.type, at);
    if (at == nullptr) continue;
    switch (field.type->shape) {
      case Shape::kList:
        List(*field.type, field.number, at, out);
        break;
      case Shape::kMap:
        Entries(*field.type, field.number, at, out);
        break;
      case Shape::kBytes:
        if (static_cast<const std::string*>(at)->empty() && !field.Has(Field::kPointer))
          break;  // nil in Go
        [[fallthrough]];
      default:
        Value(*field.type, field.number, at, out);
    }
  }
}

// Field numbers of the envelope and of its type meta.
constexpr uint32_t kTypeMeta = 1, kRaw = 2, kContentEncoding = 3, kContentType = 4;
constexpr uint32_t kApiVersion = 1, kKind = 2;

}  // namespace

void Encode(const Type& type, const void* object, std::string* out) {
  BackWriter writer;
  Struct(type, object, &writer);
  out->append(writer.view());
}

void Seal(std::string_view api_version, std::string_view kind, const Type& type, const void* object,
          std::string* out) {
  BackWriter writer;
  writer.BytesField(kContentType, "");
  writer.BytesField(kContentEncoding, "");
  size_t before = writer.size();
  Struct(type, object, &writer);
  writer.MessageField(kRaw, before);
  before = writer.size();
  writer.BytesField(kKind, kind);
  writer.BytesField(kApiVersion, api_version);
  writer.MessageField(kTypeMeta, before);
  writer.Raw(kMagic);
  out->append(writer.view());
}

void AppendLengthPrefix(std::string* out, uint32_t number, size_t size) {
  auto varint = [out](uint64_t value) {
    for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
    out->push_back(static_cast<char>(value));
  };
  varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(WireType::kBytes));
  varint(size);
}

std::string EnvelopeHead(std::string_view api_version, std::string_view kind, size_t raw_size) {
  std::string type_meta;
  AppendLengthPrefix(&type_meta, kApiVersion, api_version.size());
  type_meta += api_version;
  AppendLengthPrefix(&type_meta, kKind, kind.size());
  type_meta += kind;
  std::string head(kMagic);
  AppendLengthPrefix(&head, kTypeMeta, type_meta.size());
  head += type_meta;
  AppendLengthPrefix(&head, kRaw, raw_size);
  return head;
}

}  // namespace cox::proto
