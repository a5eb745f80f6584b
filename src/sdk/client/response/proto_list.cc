// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/proto_list.h"

#include "object/codec/protobuf/fields.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::sdk {
namespace {

enum class Read : uint8_t { kOk, kMore, kBad };

Read ReadVarint(std::string_view bytes, size_t* at, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (*at == bytes.size()) return Read::kMore;
    const auto byte = static_cast<unsigned char>(bytes[(*at)++]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return Read::kOk;
  }
  return Read::kBad;
}

Part ToPart(Read read) { return read == Read::kMore ? Part::kMore : Part::kBroken; }

}  // namespace

void ProtoListStream::Feed(std::string_view bytes) {
  if (at_ == buffer_.size() && buffer_.capacity() > 256 * 1024) {
    buffer_ = std::string();
  } else {
    buffer_.erase(0, at_);
  }
  at_ = text_ = text_size_ = 0;
  buffer_.append(bytes);
}

Part ProtoListStream::ReadField(uint64_t open, FieldAt* field) const {
  size_t at = at_;
  uint64_t tag = 0, size = 0;
  if (const Read read = ReadVarint(buffer_, &at, &tag); read != Read::kOk) return ToPart(read);
  field->number = tag >> 3;
  if (field->number == 0) return Part::kBroken;
  switch (static_cast<proto::WireType>(tag & 7)) {
    case proto::WireType::kVarint:
      if (const Read read = ReadVarint(buffer_, &at, &size); read != Read::kOk) return ToPart(read);
      field->begin = field->end = at;
      return Part::kMember;
    case proto::WireType::kBytes:
      break;
    case proto::WireType::kFixed64:
    case proto::WireType::kFixed32:
      field->begin = field->end = at + ((tag & 7) == 1 ? 8 : 4);
      return field->end <= buffer_.size() ? Part::kMember : Part::kMore;
    default:
      return Part::kBroken;
  }
  if (const Read read = ReadVarint(buffer_, &at, &size); read != Read::kOk) return ToPart(read);
  field->begin = at;
  if (open != 0 && field->number == open) {
    field->end = at;
    if (size > static_cast<uint64_t>(INT64_MAX)) return Part::kBroken;
    field->end += static_cast<size_t>(size);
    return Part::kMember;
  }
  if (size > limit_) return Part::kBroken;
  field->end = at + static_cast<size_t>(size);
  return field->end <= buffer_.size() ? Part::kMember : Part::kMore;
}

Part ProtoListStream::NextOfEnvelope() {
  FieldAt field;
  const Part part = ReadField(kRaw, &field);
  if (part != Part::kMember) return part;
  if (field.number == kRaw) {
    if (list_seen_) return Part::kBroken;  // only one list is allowed
    list_seen_ = true;
    in_list_ = field.end - field.begin;
    at_ = field.begin;
    return Part::kEnd;  // continue
  }
  if (field.number == kTypeMeta) {
    proto::Fields names(std::string_view(buffer_).substr(field.begin, field.end - field.begin));
    while (names.Next()) {
      if (names.number() == 2) kind_ = names.bytes();
    }
    if (!names.good()) return Part::kBroken;
  }
  at_ = field.end;
  return Part::kEnd;
}

Part ProtoListStream::NextOfList() {
  FieldAt field;
  const Part part = ReadField(0, &field);
  if (part != Part::kMember) return part;
  if (field.end - at_ > in_list_) return Part::kBroken;
  in_list_ -= field.end - at_;
  at_ = field.end;
  text_ = field.begin;
  text_size_ = field.end - field.begin;
  if (field.number == kItems) return Part::kItem;
  return field.number == kMetadata ? Part::kMember : Part::kEnd;
}

Part ProtoListStream::Next() {
  while (!broken_) {
    if (!magic_seen_) {
      if (buffer_.size() - at_ < proto::kMagic.size()) return Part::kMore;
      if (!proto::HasEnvelope(std::string_view(buffer_).substr(at_))) break;
      at_ += proto::kMagic.size();
      magic_seen_ = true;
    }
    if (at_ == buffer_.size()) return Part::kMore;
    const Part part = in_list_ > 0 ? NextOfList() : NextOfEnvelope();
    if (part == Part::kBroken) break;
    if (part != Part::kEnd) return part;
  }
  broken_ = true;
  return Part::kBroken;
}

}  // namespace cox::sdk
