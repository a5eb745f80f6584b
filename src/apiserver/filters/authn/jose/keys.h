// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/value.h"

// Keys of service account tokens: RSA (RS256) and EC on P-256, P-384 and P-521 (ES256, ES384,
// ES512).
namespace cox::apiserver {

// The public half: verifies signatures.
//
// Its id is the URL-safe base64 of the SHA-256 of its SubjectPublicKeyInfo, so that servers which
// share a key agree on it without being told.
// Threads: constant after construction. Copies share the key.
class VerificationKey {
 public:
  // BadRequest for a kind of key or a curve that tokens are not signed with, and for RSA of less
  // than 2048 bits.
  static Result<VerificationKey> Of(std::shared_ptr<EVP_PKEY> key);

  const std::string& id() const { return id_; }
  std::string_view algorithm() const { return algorithm_; }  // "RS256"
  // False for every signature that is not this key's, also for one that is no signature at all.
  bool Verify(std::string_view message, std::string_view signature) const;
  // As JSON Web Key (RFC 7517).
  Value Jwk() const;

 private:
  VerificationKey(std::shared_ptr<EVP_PKEY> key, std::string_view algorithm, std::string id)
      : key_(std::move(key)), algorithm_(algorithm), id_(std::move(id)) {}

  std::shared_ptr<EVP_PKEY> key_;
  std::string_view algorithm_;
  std::string id_;
};

// The private half: signs. It never leaves this object.
class SigningKey {
 public:
  // BadRequest for a PEM that holds no private key of the right kind.
  static Result<SigningKey> Parse(std::string_view pem);

  const VerificationKey& verification_key() const { return public_; }
  Result<std::string> Sign(std::string_view message) const;

 private:
  SigningKey(std::shared_ptr<EVP_PKEY> key, VerificationKey public_key)
      : key_(std::move(key)), public_(std::move(public_key)) {}

  std::shared_ptr<EVP_PKEY> key_;
  VerificationKey public_;
};

// All keys of a PEM text: public keys, certificates, and private keys for their public half.
// BadRequest if there is none, or one that cannot be used.
Result<std::vector<VerificationKey>> ParseVerificationKeys(std::string_view pem);

// A new EC key on P-256, as PEM: made in an instant, where one of RSA would hold up the start.
Result<std::string> GenerateSigningKeyPem();

}  // namespace cox::apiserver
