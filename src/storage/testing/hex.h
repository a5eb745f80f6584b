// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "storage/encryption/transform/cipher.h"

// Helpers for tests of encryption. The test vectors come from another implementation of the
// published algorithms than the one under test.
namespace cox::storage {

inline std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

// `size` bytes: first, first + 1, ...
inline std::string Counting(unsigned char first, size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(first++);
  return bytes;
}
inline KeyBytes CountingKey(unsigned char first, size_t size) {
  return KeyBytes(Counting(first, size));
}

inline constexpr std::string_view kStoreKey = "/registry/secrets/default/db";
// Contains a zero byte.
inline const std::string kObject("k8s\0 the stored object of a Secret", 34);

}  // namespace cox::storage
