// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/filters/authn/jose/jwt.h"
#include "base/result.h"

namespace cox::apiserver {

// The public keys of an issuer: a JSON Web Key Set (RFC 7517).
//
// Threads: Immutable after construction.
class JwkSet {
 public:
  // Skips keys of unsupported types and keys that are not for signatures. Errors: BadRequest if it
  // is not a key set.
  static Result<std::shared_ptr<const JwkSet>> Parse(std::string_view json);

  // Whether one of the keys signed the token. If the token has a key id, the key's id must match;
  // if the key has an algorithm, the token's must match.
  bool Verify(const Jwt& token) const;
  // Whether a key with that id exists; any key if it is empty.
  bool Has(std::string_view key_id) const;
  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id;
    std::string algorithm;  // empty: not specified
    std::shared_ptr<EVP_PKEY> key;
  };
  std::vector<Key> keys_;
};
using JwkSetPtr = std::shared_ptr<const JwkSet>;

}  // namespace cox::apiserver
