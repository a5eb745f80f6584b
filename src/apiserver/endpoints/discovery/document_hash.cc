// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/discovery/document_hash.h"

#include <openssl/sha.h>

namespace cox::apiserver {

std::string DocumentHash(std::string_view document) {
  unsigned char digest[SHA512_DIGEST_LENGTH];
  SHA512(reinterpret_cast<const unsigned char*>(document.data()), document.size(), digest);
  std::string hash;
  for (const unsigned char byte : digest) {
    constexpr char kHex[] = "0123456789ABCDEF";
    hash.push_back(kHex[byte >> 4]);
    hash.push_back(kHex[byte & 15]);
  }
  return hash;
}

}  // namespace cox::apiserver
