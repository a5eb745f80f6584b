// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <string>

#include "apiserver/filters/authn/jose/openssl_ptr.h"

// For tests: keys of several types, generated once.
namespace cox::apiserver {

inline std::string PemOf(EVP_PKEY* key, bool public_half) {
  const OpenSslPtr<BIO, BIO_free> bio(BIO_new(BIO_s_mem()));
  if (public_half) {
    PEM_write_bio_PUBKEY(bio.get(), key);
  } else {
    PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

struct TestKeyPair {
  std::string private_pem, public_pem;
};
inline TestKeyPair MakeKeyPair(EVP_PKEY* made) {
  const OpenSslPtr<EVP_PKEY, EVP_PKEY_free> key(made);
  return {PemOf(key.get(), false), PemOf(key.get(), true)};
}
inline const TestKeyPair& RsaKeys() {
  static const TestKeyPair keys = MakeKeyPair(EVP_RSA_gen(2048));
  return keys;
}
inline const TestKeyPair& OtherRsaKeys() {
  static const TestKeyPair keys = MakeKeyPair(EVP_RSA_gen(2048));
  return keys;
}
inline TestKeyPair EcKeys(const char* curve) { return MakeKeyPair(EVP_EC_gen(curve)); }

}  // namespace cox::apiserver
