// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "base/strings.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/codec/protobuf/wire.h"
#include "object/type/api_types.h"
#include "object/type/limits.h"
#include "object/type/pointer.h"

namespace cox::proto {
namespace {

Status Truncated() { return Status::BadRequest("proto: unexpected end of message"); }

// True for values that are encoded as varint or fixed64, and so may be packed.
bool IsPackable(const Type& type) { return type.shape <= Shape::kDouble; }

class Decoder {
 public:
  explicit Decoder(size_t input_bytes) : item_bytes_(limits::ItemBytes(input_bytes)) {}

  // False on malformed bytes; see status().
  bool Struct(std::string_view bytes, const Type& type, void* object) {
    if (++depth_ > limits::kMaxTypedDepth)
      return Fail(Status::BadRequest("proto: exceeded max depth"));
    WireReader in(bytes);
    uint64_t maps = 0;  // rows of maps that got entries; the last bit represents all further rows
    while (!in.done()) {
      uint64_t tag;
      if (!in.Tag(&tag)) return Fail(Truncated());
      uint32_t number = TagNumber(tag);
      uint16_t row = number < type.by_number.size() ? type.by_number[number] : NameIndex::kNone;
      if (row == NameIndex::kNone) {
        if (!in.Skip(tag)) return Fail(Truncated());
        continue;
      }
      const Field& field = type.fields[row];
      if (field.type->shape == Shape::kMap) maps |= uint64_t{1} << std::min<int>(row, 63);
      if (!FieldValue(field, tag, &in, static_cast<char*>(object) + field.offset)) return false;
    }
    if (maps != 0) SealMaps(type, object, maps);
    --depth_;
    return true;
  }

  const Status& status() const { return status_; }

 private:
  static void SealMaps(const Type& type, void* object, uint64_t maps) {
    for (size_t row = 0; row < type.fields.size(); ++row) {
      const Field& field = type.fields[row];
      bool touched = (maps >> std::min<size_t>(row, 63) & 1) != 0;
      if (!touched || field.type->shape != Shape::kMap || field.Has(Field::kFlattened)) continue;
      field.type->map_ops->Seal(static_cast<char*>(object) + field.offset);
    }
  }

  bool FieldValue(const Field& field, uint64_t tag, WireReader* in, void* at) {
    const Type& type = *field.type;
    if (field.Has(Field::kPointer)) at = EnsurePointedTo(type, at);
    switch (type.shape) {
      case Shape::kList:
        return ListItem(field, tag, in, at);
      case Shape::kMap:
        return MapEntry(field, tag, in, at);
      default:
        return Value(field, type, tag, in, at);
    }
  }

  bool ListItem(const Field& field, uint64_t tag, WireReader* in, void* list) {
    const Type& type = *field.type;
    std::string_view bytes;
    if (type.wire_items) {
      if (TagType(tag) != WireType::kBytes) return WrongType(field, tag);
      return in->Bytes(&bytes) ? Items(bytes, *type.list_ops, list) : Fail(Truncated());
    }
    if (type.element->shape == Shape::kStruct && type.list_ops->items(list).count == 0) {
      // Items are large, and growing step by step would move them repeatedly.
      size_t count = 1 + in->CountRun(tag);
      if (count > 1 && count * type.list_ops->stride <= item_bytes_) {
        type.list_ops->reserve(*type.list_ops, list, count);
      }
    }
    if (!IsPackable(*type.element) || TagType(tag) != WireType::kBytes) {
      return ChargeMemory(type.list_ops->stride) &&
             Value(field, *type.element, tag, in, type.list_ops->append(*type.list_ops, list));
    }
    if (!in->Bytes(&bytes)) return Fail(Truncated());
    WireType packed =
        type.element->shape == Shape::kDouble ? WireType::kFixed64 : WireType::kVarint;
    WireReader items(bytes);
    while (!items.done()) {
      if (!Value(field, *type.element, static_cast<uint64_t>(packed), &items,
                 type.list_ops->append(*type.list_ops, list)))
        return false;
    }
    return true;
  }

  // The message of a named slice: `repeated string items = 1`.
  bool Items(std::string_view bytes, const ListOps& ops, void* list) {
    WireReader in(bytes);
    while (!in.done()) {
      uint64_t tag;
      std::string_view item;
      if (!in.Tag(&tag)) return Fail(Truncated());
      if (TagNumber(tag) == 1 && TagType(tag) == WireType::kBytes) {
        if (!in.Bytes(&item)) return Fail(Truncated());
        if (!ChargeMemory(ops.stride)) return false;
        static_cast<std::string*>(ops.append(ops, list))->assign(item);
      } else if (!in.Skip(tag)) {
        return Fail(Truncated());
      }
    }
    return true;
  }

  bool MapEntry(const Field& field, uint64_t tag, WireReader* in, void* map) {
    const Type& type = *field.type;
    std::string_view bytes;
    if (TagType(tag) != WireType::kBytes) return WrongType(field, tag);
    if (!in->Bytes(&bytes)) return Fail(Truncated());
    // All known encoders write the key first, but that is not required.
    std::string_view key;
    WireReader keys(bytes);
    while (!keys.done()) {
      uint64_t part;
      if (!keys.Tag(&part)) return Fail(Truncated());
      bool is_key = TagNumber(part) == 1 && TagType(part) == WireType::kBytes;
      if (is_key ? !keys.Bytes(&key) : !keys.Skip(part)) return Fail(Truncated());
    }
    if (!ChargeMemory(type.map_ops->stride)) return false;
    void* value = type.map_ops->Append(map, key);
    WireReader values(bytes);
    while (!values.done()) {
      uint64_t part;
      if (!values.Tag(&part)) return Fail(Truncated());
      if (TagNumber(part) != 2) {
        if (!values.Skip(part)) return Fail(Truncated());
      } else if (type.element->shape == Shape::kList) {
        if (TagType(part) != WireType::kBytes) return WrongType(field, part);
        if (!values.Bytes(&bytes)) return Fail(Truncated());
        return Items(bytes, *type.element->list_ops, value);
      } else if (!Value(field, *type.element, part, &values, value)) {
        return false;
      }
    }
    return true;
  }

  // Decodes one value of any shape except kList and kMap.
  bool Value(const Field& field, const Type& type, uint64_t tag, WireReader* in, void* to) {
    uint64_t number = 0;
    std::string_view bytes;
    WireType wire = type.shape == Shape::kDouble ? WireType::kFixed64
                    : IsPackable(type)           ? WireType::kVarint
                                                 : WireType::kBytes;
    if (TagType(tag) != wire) return WrongType(field, tag);
    bool ok = wire == WireType::kVarint    ? in->Varint(&number)
              : wire == WireType::kFixed64 ? in->Fixed64(&number)
                                           : in->Bytes(&bytes);
    if (!ok) return Fail(Truncated());
    switch (type.shape) {
      case Shape::kBool:
        *static_cast<bool*>(to) = number != 0;
        return true;
      case Shape::kInt32:
        *static_cast<int32_t*>(to) = static_cast<int32_t>(number);
        return true;
      case Shape::kInt64:
        *static_cast<int64_t*>(to) = static_cast<int64_t>(number);
        return true;
      case Shape::kDouble:
        *static_cast<double*>(to) = std::bit_cast<double>(number);
        return true;
      case Shape::kString:
      case Shape::kBytes:
        static_cast<std::string*>(to)->assign(bytes);
        return true;
      case Shape::kStruct:
        return Struct(bytes, type, to);
      default:
        return Special(type, bytes, to);
    }
  }

  // The fields of a message that represents a single value: at most three.
  struct Parts {
    uint64_t numbers[4] = {};
    std::string_view bytes[4];
  };
  bool ReadParts(std::string_view message, Parts* parts) {
    WireReader in(message);
    while (!in.done()) {
      uint64_t tag;
      if (!in.Tag(&tag)) return Fail(Truncated());
      uint32_t number = TagNumber(tag);
      bool ok;
      if (number < 4 && TagType(tag) == WireType::kVarint) {
        ok = in.Varint(&parts->numbers[number]);
      } else if (number < 4 && TagType(tag) == WireType::kBytes) {
        ok = in.Bytes(&parts->bytes[number]);
      } else {
        ok = in.Skip(tag);
      }
      if (!ok) return Fail(Truncated());
    }
    return true;
  }

  bool Special(const Type& type, std::string_view message, void* to) {
    Parts parts;
    if (!ReadParts(message, &parts)) return false;
    switch (type.shape) {
      case Shape::kQuantity: {
        Result<Quantity> parsed = Quantity::Parse(parts.bytes[1]);
        if (!parsed.ok()) return Fail(parsed.status());
        *static_cast<Quantity*>(to) = *std::move(parsed);
        return true;
      }
      case Shape::kIntOrString:
        if (parts.numbers[1] != 0) {
          *static_cast<IntOrString*>(to) = parts.bytes[3];
        } else {
          *static_cast<IntOrString*>(to) = static_cast<int32_t>(parts.numbers[2]);
        }
        return true;
      case Shape::kTime:
        *static_cast<Time*>(to) =
            message.empty() ? Time() : Time::FromUnix(static_cast<int64_t>(parts.numbers[1]));
        return true;
      case Shape::kMicroTime: {
        auto nanos = static_cast<int32_t>(parts.numbers[2]);
        if (nanos < 0 || nanos > 999'999'999) nanos = 0;
        *static_cast<MicroTime*>(to) =
            message.empty()
                ? MicroTime()
                : MicroTime::FromUnix(static_cast<int64_t>(parts.numbers[1]), nanos / 1000 * 1000);
        return true;
      }
      case Shape::kDuration:
        static_cast<Duration*>(to)->nanos = static_cast<int64_t>(parts.numbers[1]);
        return true;
      default:  // kRaw
        static_cast<RawJson*>(to)->raw.assign(parts.bytes[1]);
        return true;
    }
  }

  bool WrongType(const Field& field, uint64_t tag) {
    return Fail(Status::BadRequest("proto: wrong wireType = " + std::to_string(tag & 7) +
                                   " for field " + std::string(field.name)));
  }

  // Deducts the size of one more item from the memory limit of the input.
  bool ChargeMemory(size_t bytes) {
    if (bytes > item_bytes_)
      return Fail(Status::BadRequest("proto: message expands to too large an object"));
    item_bytes_ -= bytes;
    return true;
  }

  bool Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  Status status_;
  size_t item_bytes_;  // remaining
  int depth_ = 0;
};

// The error text for a truncated envelope, which differs from that of other messages.
Status EnvelopeEnds() { return Status::BadRequest("unexpected EOF"); }

}  // namespace

Status Decode(std::string_view bytes, const Type& type, void* object) {
  Decoder decoder(bytes.size());
  return decoder.Struct(bytes, type, object) ? Status() : decoder.status();
}

Result<Envelope> Open(std::string_view bytes) {
  if (bytes.empty()) return Status::BadRequest("empty data");
  if (!HasEnvelope(bytes)) {
    return Status::BadRequest(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  Envelope envelope;
  WireReader in(bytes.substr(kMagic.size()));
  while (!in.done()) {
    uint64_t tag;
    std::string_view part;
    if (!in.Tag(&tag)) return EnvelopeEnds();
    if (TagType(tag) != WireType::kBytes) {
      if (!in.Skip(tag)) return EnvelopeEnds();
      continue;
    }
    if (!in.Bytes(&part)) return EnvelopeEnds();
    switch (TagNumber(tag)) {
      case 1: {
        WireReader meta(part);
        while (!meta.done()) {
          uint64_t inner;
          std::string_view text;
          if (!meta.Tag(&inner)) return EnvelopeEnds();
          if (TagType(inner) != WireType::kBytes ? !meta.Skip(inner) : !meta.Bytes(&text))
            return EnvelopeEnds();
          if (TagNumber(inner) == 1) envelope.api_version = text;
          if (TagNumber(inner) == 2) envelope.kind = text;
        }
        break;
      }
      case 2:
        envelope.raw = part;
        break;
      case 3:
        envelope.content_encoding = part;
        break;
      case 4:
        envelope.content_type = part;
        break;
      default:
        break;
    }
  }
  return envelope;
}

}  // namespace cox::proto
