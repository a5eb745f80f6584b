// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <endian.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cox::proxy::nft {

// Appends netlink attributes to a string: length, type, value, padded to four bytes.
class Attributes {
 public:
  explicit Attributes(std::string* out) : out_(*out) {}

  void Bytes(uint16_t type, std::string_view value) {
    Head(type, value.size());
    out_ += value;
    Pad();
  }
  // Strings are null-terminated.
  void Text(uint16_t type, std::string_view value) {
    Head(type, value.size() + 1);
    out_ += value;
    out_ += '\0';
    Pad();
  }
  void U8(uint16_t type, uint8_t value) { Raw(type, &value, sizeof value); }
  void U16(uint16_t type, uint16_t value) {
    const uint16_t big = htons(value);
    Raw(type, &big, sizeof big);
  }
  void U32(uint16_t type, uint32_t value) {
    const uint32_t big = htonl(value);
    Raw(type, &big, sizeof big);
  }
  void U64(uint16_t type, uint64_t value) {
    const uint64_t big = htobe64(value);
    Raw(type, &big, sizeof big);
  }
  // Calls `fill`, which appends the nested attributes.
  template <class Fill>
  void Nest(uint16_t type, Fill fill) {
    constexpr uint16_t kNested = 1 << 15;
    const size_t at = out_.size();
    Head(static_cast<uint16_t>(type | kNested), 0);
    fill();
    const auto size = static_cast<uint16_t>(out_.size() - at);
    std::memcpy(out_.data() + at, &size, sizeof size);
  }

 private:
  void Raw(uint16_t type, const void* value, size_t size) {
    Bytes(type, {static_cast<const char*>(value), size});
  }
  void Head(uint16_t type, size_t size) {
    const uint16_t head[2] = {static_cast<uint16_t>(size + 4), type};
    out_.append(reinterpret_cast<const char*>(head), sizeof head);
  }
  void Pad() { out_.append((4 - out_.size() % 4) % 4, '\0'); }

  std::string& out_;
};

}  // namespace cox::proxy::nft
