// SPDX-License-Identifier: Apache-2.0
#include "net/digest.h"

#include <openssl/sha.h>

namespace cox::net {

std::string Sha256Hex(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string text;
  text.reserve(2 * sizeof digest);
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace cox::net
