// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authenticator/token_cache.h"

#include <openssl/sha.h>

namespace cox::apiserver {

TokenDigest DigestOf(std::string_view token) {
  TokenDigest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

}  // namespace cox::apiserver
