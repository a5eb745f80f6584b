// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

#include <optional>

#include "apiserver/filters/authn/jose/jws.h"
#include "apiserver/filters/authn/jose/openssl_ptr.h"
#include "base/base64.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using BignumPtr = OpenSslPtr<BIGNUM, BN_free>;
using BuilderPtr = OpenSslPtr<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using ParamsPtr = OpenSslPtr<OSSL_PARAM, OSSL_PARAM_free>;
using KeyContextPtr = OpenSslPtr<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;

// Limits the cost of trying all keys; issuers have fewer.
constexpr size_t kMaxKeys = 64;
constexpr size_t kMaxNumberBytes = 2048;  // an RSA key of 16,384 bits

std::string_view Text(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

// A base64url number or key of a JWK; empty if it is absent or too long.
std::string Octets(const Value& jwk, std::string_view name) {
  std::optional<std::string> bytes = base64::DecodeUrl(Text(jwk, name));
  return bytes && bytes->size() <= kMaxNumberBytes ? std::move(*bytes) : std::string();
}

const unsigned char* Data(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

EVP_PKEY* FromParams(const char* type, OSSL_PARAM_BLD* builder) {
  const ParamsPtr params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContextPtr ctx(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (params == nullptr || ctx == nullptr || EVP_PKEY_fromdata_init(ctx.get()) != 1 ||
      EVP_PKEY_fromdata(ctx.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    return nullptr;
  }
  return key;
}

EVP_PKEY* RsaKey(const Value& jwk) {
  const std::string n = Octets(jwk, "n"), e = Octets(jwk, "e");
  if (n.empty() || e.empty() || e.size() > 8) return nullptr;
  const BignumPtr modulus(BN_bin2bn(Data(n), static_cast<int>(n.size()), nullptr));
  const BignumPtr exponent(BN_bin2bn(Data(e), static_cast<int>(e.size()), nullptr));
  const BuilderPtr builder(OSSL_PARAM_BLD_new());
  if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
    return nullptr;
  }
  return FromParams("RSA", builder.get());
}

EVP_PKEY* EcKey(const Value& jwk) {
  const std::string_view curve = Text(jwk, "crv");
  const size_t width = curve == "P-256" ? 32 : curve == "P-384" ? 48 : curve == "P-521" ? 66 : 0;
  const std::string x = Octets(jwk, "x"), y = Octets(jwk, "y");
  if (width == 0 || x.size() != width || y.size() != width) return nullptr;
  const std::string point = "\x04" + x + y;  // uncompressed
  const std::string group(curve);
  const BuilderPtr builder(OSSL_PARAM_BLD_new());
  if (OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group.c_str(),
                                      group.size()) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return nullptr;
  }
  return FromParams("EC", builder.get());
}

EVP_PKEY* EdwardsKey(const Value& jwk) {
  const std::string x = Octets(jwk, "x");
  if (Text(jwk, "crv") != "Ed25519" || x.size() != 32) return nullptr;
  return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Data(x), x.size());
}

// Null if it is not a supported signature key.
EVP_PKEY* KeyOf(const Value& jwk) {
  const std::string_view use = Text(jwk, "use"), type = Text(jwk, "kty");
  if (!use.empty() && use != "sig") return nullptr;
  if (type == "RSA") return RsaKey(jwk);
  if (type == "EC") return EcKey(jwk);
  return type == "OKP" ? EdwardsKey(jwk) : nullptr;
}

}  // namespace

Result<JwkSetPtr> JwkSet::Parse(std::string_view json) {
  const Status wrong = Status::BadRequest("the issuer's keys are no JSON Web Key Set");
  const Result<Value> document = json::Parse(json);
  if (!document.ok() || !document->is_object()) return wrong;
  const Value* keys = document->Find("keys");
  if (keys == nullptr || !keys->is_array()) return wrong;
  auto set = std::make_shared<JwkSet>();
  for (const Value& jwk : keys->as_array()) {
    if (!jwk.is_object() || set->keys_.size() >= kMaxKeys) continue;
    EVP_PKEY* key = KeyOf(jwk);
    if (key == nullptr) {
      ERR_clear_error();
      continue;
    }
    set->keys_.push_back({.id = std::string(Text(jwk, "kid")),
                          .algorithm = std::string(Text(jwk, "alg")),
                          .key = {key, [](EVP_PKEY* p) { EVP_PKEY_free(p); }}});
  }
  return JwkSetPtr(std::move(set));
}

bool JwkSet::Verify(const Jwt& token) const {
  for (const Key& key : keys_) {
    if (!token.key_id.empty() && token.key_id != key.id) continue;
    if (!key.algorithm.empty() && key.algorithm != token.algorithm) continue;
    if (VerifyJws(key.key.get(), token.algorithm, token.signed_part, token.signature)) return true;
  }
  return false;
}

bool JwkSet::Has(std::string_view key_id) const {
  if (key_id.empty()) return !keys_.empty();
  for (const Key& key : keys_) {
    if (key.id == key_id) return true;
  }
  return false;
}

}  // namespace cox::apiserver
