// SPDX-License-Identifier: Apache-2.0
#include "object/codec/protobuf/wire.h"

#include <algorithm>

namespace cox::proto {

bool WireReader::VarintSlow(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return false;
    auto byte = static_cast<unsigned char>(*at_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;  // more than ten bytes
}

size_t WireReader::CountRun(uint64_t tag) const {
  WireReader ahead = *this;
  size_t count = 0;
  uint64_t next = tag;
  while (ahead.Skip(next) && !ahead.done() && ahead.Tag(&next) && next == tag) ++count;
  return count;
}

bool WireReader::Skip(uint64_t tag) {
  int groups = 0;  // number of open groups, to avoid recursion
  while (true) {
    uint64_t number;
    std::string_view bytes;
    switch (TagType(tag)) {
      case WireType::kVarint:
        if (!Varint(&number)) return false;
        break;
      case WireType::kFixed64:
        if (!Fixed64(&number)) return false;
        break;
      case WireType::kBytes:
        if (!Bytes(&bytes)) return false;
        break;
      case WireType::kFixed32:
        if (end_ - at_ < 4) return false;
        at_ += 4;
        break;
      case WireType::kStartGroup:
        ++groups;
        break;
      case WireType::kEndGroup:
        if (groups == 0) return false;
        --groups;
        break;
      default:
        return false;
    }
    if (groups == 0) return true;
    if (!Tag(&tag)) return false;
  }
}

void BackWriter::Grow(size_t n) {
  size_t used = size();
  size_t capacity = std::max(buffer_.size() * 2, used + n);
  std::string larger(capacity, '\0');
  std::memcpy(larger.data() + capacity - used, buffer_.data() + at_, used);
  at_ = capacity - used;
  buffer_ = std::move(larger);
}

void BackWriter::VarintSlow(uint64_t value) {
  char bytes[10];
  size_t n = 0;
  while (value >= 0x80) {
    bytes[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[n++] = static_cast<char>(value);
  Raw({bytes, n});
}

}  // namespace cox::proto
