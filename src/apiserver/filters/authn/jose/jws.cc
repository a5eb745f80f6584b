// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/jws.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <string>

#include "apiserver/filters/authn/jose/openssl_ptr.h"

namespace cox::apiserver {
namespace {

using BignumPtr = OpenSslPtr<BIGNUM, BN_clear_free>;
using DigestPtr = OpenSslPtr<EVP_MD_CTX, EVP_MD_CTX_free>;
using EcSignaturePtr = OpenSslPtr<ECDSA_SIG, ECDSA_SIG_free>;

constexpr std::string_view kNames[] = {"RS256", "RS384", "RS512", "ES256", "ES384",
                                       "ES512", "PS256", "PS384", "PS512", "EdDSA"};
constexpr int kMinRsaBits = 2048;

const unsigned char* Data(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

const EVP_MD* DigestOfName(std::string_view algorithm) {
  if (algorithm.ends_with("256")) return EVP_sha256();
  return algorithm.ends_with("384") ? EVP_sha384() : EVP_sha512();
}

// The size in bytes of one coordinate of an EC signature; 0 if the key's curve does not match the
// algorithm.
int CoordinateOf(EVP_PKEY* key, std::string_view algorithm) {
  char group[64];
  size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group, sizeof(group), &size) != 1) return 0;
  const std::string_view name(group, size);
  if (algorithm == "ES256" && name == "prime256v1") return 32;
  if (algorithm == "ES384" && name == "secp384r1") return 48;
  if (algorithm == "ES512" && name == "secp521r1") return 66;
  return 0;
}

// Converts an EC signature from JWS (both numbers concatenated) to ASN.1 for OpenSSL.
std::string ToDer(std::string_view signature, int coordinate) {
  const auto width = static_cast<size_t>(coordinate);
  if (coordinate == 0 || signature.size() != width * 2) return {};
  EcSignaturePtr pair(ECDSA_SIG_new());
  BignumPtr r(BN_bin2bn(Data(signature), coordinate, nullptr));
  BignumPtr s(BN_bin2bn(Data(signature) + width, coordinate, nullptr));
  if (ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
  r.release();
  s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return {};
  std::string text(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

// The key type of an algorithm; 0 if it is unsupported.
int KeyTypeOf(std::string_view algorithm) {
  if (std::ranges::find(kNames, algorithm) == std::end(kNames)) return 0;
  if (algorithm == "EdDSA") return EVP_PKEY_ED25519;
  return algorithm.starts_with("ES") ? EVP_PKEY_EC : EVP_PKEY_RSA;
}

bool SetPssPadding(EVP_PKEY_CTX* options) {
  return EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::span<const std::string_view> JwsAlgorithms() { return kNames; }

bool VerifyJws(EVP_PKEY* key, std::string_view algorithm, std::string_view message,
               std::string_view signature) {
  const int type = KeyTypeOf(algorithm);
  if (type == 0 || EVP_PKEY_base_id(key) != type) return false;
  if (type == EVP_PKEY_RSA && EVP_PKEY_bits(key) < kMinRsaBits) return false;
  std::string der;
  if (type == EVP_PKEY_EC) {
    der = ToDer(signature, CoordinateOf(key, algorithm));
    if (der.empty()) return false;
    signature = der;
  }
  const DigestPtr ctx(EVP_MD_CTX_new());
  EVP_PKEY_CTX* options = nullptr;  // owned by the digest context
  const EVP_MD* const digest = type == EVP_PKEY_ED25519 ? nullptr : DigestOfName(algorithm);
  const bool good = EVP_DigestVerifyInit(ctx.get(), &options, digest, nullptr, key) == 1 &&
                    (!algorithm.starts_with("PS") || SetPssPadding(options)) &&
                    EVP_DigestVerify(ctx.get(), Data(signature), signature.size(), Data(message),
                                     message.size()) == 1;
  if (!good) ERR_clear_error();
  return good;
}

}  // namespace cox::apiserver
