// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cox::dns {

// Reads a message from the front; after the first error all reads fail.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && at_ == bytes_.size(); }
  size_t at() const { return at_; }
  uint16_t U16() {
    if (!Has(2)) return 0;
    const auto value = static_cast<uint16_t>(Byte(at_) << 8 | Byte(at_ + 1));
    at_ += 2;
    return value;
  }
  uint32_t U32() {
    const uint32_t high = U16();
    return high << 16 | U16();
  }
  void Skip(size_t count) {
    if (Has(count)) at_ += count;
  }
  // A name without compression, which is not used in questions. None if it is malformed. The format
  // is that of Query::name.
  std::optional<std::string> Name() {
    std::string text;
    size_t total = 0;
    for (;;) {
      if (!Has(1)) return std::nullopt;
      const uint8_t size = Byte(at_);
      if (size > 63 || !Has(size + size_t{1})) return Fail();
      ++at_;
      total += size + size_t{1};
      if (total > 255) return Fail();
      if (size == 0) return text;
      if (!text.empty()) text += '.';
      for (uint8_t i = 0; i < size; ++i) AppendByte(Byte(at_ + i), &text);
      at_ += size;
    }
  }
  // Skips a name in a response, which may end with a compression pointer.
  bool SkipName() {
    for (size_t total = 0; total <= 255;) {
      if (!Has(1)) return false;
      const uint8_t size = Byte(at_);
      if ((size & 0xc0) == 0xc0) {
        Skip(2);
        return ok_;
      }
      if (size > 63) break;
      Skip(size + size_t{1});
      if (!ok_) return false;
      if (size == 0) return true;
      total += size + size_t{1};
    }
    ok_ = false;
    return false;
  }

 private:
  uint8_t Byte(size_t at) const { return static_cast<uint8_t>(bytes_[at]); }
  bool Has(size_t count) {
    ok_ = ok_ && bytes_.size() - at_ >= count;
    return ok_;
  }
  std::nullopt_t Fail() {
    ok_ = false;
    return std::nullopt;
  }
  static void AppendByte(uint8_t byte, std::string* text) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<uint8_t>(byte + ('a' - 'A'));
    if (byte == '.' || byte == '\\') {
      *text += '\\';
      *text += static_cast<char>(byte);
    } else if (byte <= ' ' || byte >= 0x7f) {
      *text += '\\';
      *text += static_cast<char>('0' + byte / 100);
      *text += static_cast<char>('0' + byte / 10 % 10);
      *text += static_cast<char>('0' + byte % 10);
    } else {
      *text += static_cast<char>(byte);
    }
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace cox::dns
