// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Protobuf's wire format: varints, tags and length-prefixed bytes.
namespace cox::proto {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

inline WireType TagType(uint64_t tag) { return static_cast<WireType>(tag & 7); }
inline uint32_t TagNumber(uint64_t tag) { return static_cast<uint32_t>(tag >> 3); }

// Reads from the front. Each call returns false if the bytes are truncated or malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool done() const { return at_ == end_; }

  bool Varint(uint64_t* value) {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) {  // most are one byte
      *value = static_cast<unsigned char>(*at_++);
      return true;
    }
    return VarintSlow(value);
  }

  // Reads a tag with a valid field number.
  bool Tag(uint64_t* tag) { return Varint(tag) && TagNumber(*tag) != 0 && *tag >> 32 == 0; }

  bool Bytes(std::string_view* bytes) {
    uint64_t size;
    if (!Varint(&size) || size > static_cast<uint64_t>(end_ - at_)) return false;
    *bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

  bool Fixed64(uint64_t* value) {
    if (end_ - at_ < 8) return false;
    std::memcpy(value, at_, 8);
    at_ += 8;
    return true;
  }

  // The number of values of `tag` that directly follow the next one.
  size_t CountRun(uint64_t tag) const;

  // Skips the value that follows a tag, including whole groups.
  bool Skip(uint64_t tag);

 private:
  bool VarintSlow(uint64_t* value);

  const char* at_;
  const char* end_;
};

// Writes from back to front, so that the length of a message is known when its prefix is written
// and needs no second pass.
class BackWriter {
 public:
  explicit BackWriter(size_t expected = 512) : buffer_(expected, '\0'), at_(buffer_.size()) {}

  size_t size() const { return buffer_.size() - at_; }
  std::string_view view() const { return {buffer_.data() + at_, size()}; }

  void Raw(std::string_view bytes) {
    char* to = Room(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  void Varint(uint64_t value) {
    if (value < 0x80) {
      *Room(1) = static_cast<char>(value);
    } else {
      VarintSlow(value);
    }
  }
  void Tag(uint32_t number, WireType type) {
    Varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type));
  }
  void Fixed64(uint64_t value) { std::memcpy(Room(8), &value, 8); }

  // Writes a whole field: value, length if any, tag.
  void VarintField(uint32_t number, uint64_t value) {
    Varint(value);
    Tag(number, WireType::kVarint);
  }
  void BytesField(uint32_t number, std::string_view bytes) {
    Raw(bytes);
    Varint(bytes.size());
    Tag(number, WireType::kBytes);
  }
  // Writes the prefix of a message whose fields were written since size() was `before`.
  void MessageField(uint32_t number, size_t before) {
    Varint(size() - before);
    Tag(number, WireType::kBytes);
  }

 private:
  char* Room(size_t n) {
    if (at_ < n) Grow(n);
    at_ -= n;
    return buffer_.data() + at_;
  }
  void Grow(size_t n);
  void VarintSlow(uint64_t value);

  std::string buffer_;
  size_t at_;  // start of the written bytes
};

}  // namespace cox::proto
