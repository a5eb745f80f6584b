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

// The public key: verifies signatures.
//
// Its id is the URL-safe base64 of the SHA-256 of its SubjectPublicKeyInfo, so that all servers
// derive the same id from a key.
// Threads: Immutable after construction. Copies share the key.
class VerificationKey {
 public:
  // Errors: BadRequest for unsupported key types and curves, and for RSA keys below 2048 bits.
  static Result<VerificationKey> Of(std::shared_ptr<EVP_PKEY> key);

  const std::string& id() const { return id_; }
  std::string_view algorithm() const { return algorithm_; }  // "RS256"
  // False for malformed signatures too.
  bool Verify(std::string_view message, std::string_view signature) const;
  // Encodes the key as a JSON Web Key (RFC 7517).
  Value Jwk() const;

 private:
  VerificationKey(std::shared_ptr<EVP_PKEY> key, std::string_view algorithm, std::string id)
      : key_(std::move(key)), algorithm_(algorithm), id_(std::move(id)) {}

  std::shared_ptr<EVP_PKEY> key_;
  std::string_view algorithm_;
  std::string id_;
};

// The private key: signs. It is never exported.
class SigningKey {
 public:
  // Errors: BadRequest for a PEM without a supported private key.
  static Result<SigningKey> Parse(std::string_view pem);

  const VerificationKey& verification_key() const { return public_; }
  Result<std::string> Sign(std::string_view message) const;

 private:
  SigningKey(std::shared_ptr<EVP_PKEY> key, VerificationKey public_key)
      : key_(std::move(key)), public_(std::move(public_key)) {}

  std::shared_ptr<EVP_PKEY> key_;
  VerificationKey public_;
};

// All keys of a PEM text: public keys, certificates, and the public halves of private keys. Errors:
// BadRequest if there is none, or an unsupported one.
Result<std::vector<VerificationKey>> ParseVerificationKeys(std::string_view pem);

// A new EC key on P-256 as PEM. Generating an RSA key would delay the start.
Result<std::string> GenerateSigningKeyPem();

}  // namespace cox::apiserver
