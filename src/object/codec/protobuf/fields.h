// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "object/codec/protobuf/wire.h"

namespace cox::proto {

// Iterates over the fields of a small message that is decoded by hand:
//
//   Fields fields(message);
//   while (fields.Next()) { if (fields.number() == 1) name = fields.bytes(); }
//   if (!fields.good()) return Malformed();
class Fields {
 public:
  explicit Fields(std::string_view bytes) : reader_(bytes) {}

  // False at the end or if the bytes are malformed: see good().
  bool Next() {
    if (reader_.done()) return false;
    if (!reader_.Tag(&tag_)) return Bad();
    number_ = TagNumber(tag_);
    bytes_ = {};
    value_ = 0;
    switch (TagType(tag_)) {
      case WireType::kVarint:
        return reader_.Varint(&value_) || Bad();
      case WireType::kBytes:
        return reader_.Bytes(&bytes_) || Bad();
      default:
        return reader_.Skip(tag_) || Bad();
    }
  }

  uint32_t number() const { return number_; }
  int64_t value() const { return static_cast<int64_t>(value_); }
  bool flag() const { return value_ != 0; }
  std::string_view bytes() const { return bytes_; }
  bool good() const { return good_; }

 private:
  bool Bad() {
    good_ = false;
    return false;
  }

  WireReader reader_;
  uint64_t tag_ = 0;
  uint32_t number_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace cox::proto
