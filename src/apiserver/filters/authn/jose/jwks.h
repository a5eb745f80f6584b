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
// Threads: constant after construction.
class JwkSet {
 public:
  // Keys of kinds that are not known, or not for signatures, are left out. BadRequest if it is no
  // such document.
  static Result<std::shared_ptr<const JwkSet>> Parse(std::string_view json);

  // Whether one of the keys signed the token. The key must be of the id that the token names, if it
  // names one, and made for the token's algorithm, if it says for which.
  bool Verify(const Jwt& token) const;
  // Whether a key of that id is there; any, if it is empty.
  bool Has(std::string_view key_id) const;
  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id;
    std::string algorithm;  // empty: it does not say
    std::shared_ptr<EVP_PKEY> key;
  };
  std::vector<Key> keys_;
};
using JwkSetPtr = std::shared_ptr<const JwkSet>;

}  // namespace cox::apiserver
