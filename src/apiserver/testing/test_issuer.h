// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>

#include "apiserver/filters/authn/jose/openssl_ptr.h"
#include "base/base64.h"
#include "object/codec/json/json.h"
#include "object/type/value.h"

// For tests: keys of a token issuer, their public part as JWK, and tokens signed with them.
namespace cox::apiserver {

class TestIssuerKey {
 public:
  static TestIssuerKey Rsa(std::string id, unsigned bits = 2048) {
    return {std::move(id), EVP_RSA_gen(bits)};
  }
  static TestIssuerKey Ec(std::string id, const char* curve) {
    return {std::move(id), EVP_EC_gen(curve)};
  }
  static TestIssuerKey Ed(std::string id) {
    return {std::move(id), EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  }

  Value Jwk() const {
    Value jwk = Value::MakeObject({{"kid", id_}, {"use", "sig"}});
    Value::Object& members = jwk.as_object();
    if (Type() == EVP_PKEY_RSA) {
      members["kty"] = "RSA";
      members["n"] = Number(OSSL_PKEY_PARAM_RSA_N, 0);
      members["e"] = Number(OSSL_PKEY_PARAM_RSA_E, 0);
    } else if (Type() == EVP_PKEY_EC) {
      members["kty"] = "EC";
      members["crv"] = Width() == 32 ? "P-256" : Width() == 48 ? "P-384" : "P-521";
      members["x"] = Number(OSSL_PKEY_PARAM_EC_PUB_X, Width());
      members["y"] = Number(OSSL_PKEY_PARAM_EC_PUB_Y, Width());
    } else {
      unsigned char raw[32];
      size_t size = sizeof(raw);
      EVP_PKEY_get_raw_public_key(key_.get(), raw, &size);
      members["kty"] = "OKP";
      members["crv"] = "Ed25519";
      members["x"] = base64::EncodeUrl({reinterpret_cast<char*>(raw), size});
    }
    return jwk;
  }

  std::string Sign(const std::string& algorithm, const Value& claims) const {
    const Value header = Value::MakeObject({{"alg", algorithm}, {"kid", id_}});
    const std::string text =
        base64::EncodeUrl(json::Write(header)) + "." + base64::EncodeUrl(json::Write(claims));
    return text + "." + base64::EncodeUrl(Signature(algorithm, text));
  }

 private:
  TestIssuerKey(std::string id, EVP_PKEY* key)
      : id_(std::move(id)), key_(key, [](EVP_PKEY* p) { EVP_PKEY_free(p); }) {}

  int Type() const { return EVP_PKEY_base_id(key_.get()); }
  // The width of one coordinate in bytes.
  int Width() const { return (EVP_PKEY_bits(key_.get()) + 7) / 8; }

  std::string Number(const char* name, int width) const {
    BIGNUM* raw = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &raw);
    const OpenSslPtr<BIGNUM, BN_free> number(raw);
    std::string bytes(static_cast<size_t>(width > 0 ? width : BN_num_bytes(raw)), '\0');
    BN_bn2binpad(raw, reinterpret_cast<unsigned char*>(bytes.data()),
                 static_cast<int>(bytes.size()));
    return base64::EncodeUrl(bytes);
  }

  std::string Signature(const std::string& algorithm, const std::string& text) const {
    const EVP_MD* digest = Type() == EVP_PKEY_ED25519   ? nullptr
                           : algorithm.ends_with("256") ? EVP_sha256()
                           : algorithm.ends_with("384") ? EVP_sha384()
                                                        : EVP_sha512();
    const OpenSslPtr<EVP_MD_CTX, EVP_MD_CTX_free> ctx(EVP_MD_CTX_new());
    EVP_PKEY_CTX* options = nullptr;
    EVP_DigestSignInit(ctx.get(), &options, digest, nullptr, key_.get());
    if (algorithm.starts_with("PS")) {
      EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST);
    }
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    size_t size = 0;
    EVP_DigestSign(ctx.get(), nullptr, &size, data, text.size());
    std::string signature(size, '\0');
    EVP_DigestSign(ctx.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                   text.size());
    signature.resize(size);
    if (Type() != EVP_PKEY_EC) return signature;
    const auto* at = reinterpret_cast<const unsigned char*>(signature.data());
    const OpenSslPtr<ECDSA_SIG, ECDSA_SIG_free> pair(
        d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
    std::string flat(static_cast<size_t>(Width()) * 2, '\0');
    auto* out = reinterpret_cast<unsigned char*>(flat.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, Width());
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + Width(), Width());
    return flat;
  }

  std::string id_;
  std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace cox::apiserver
