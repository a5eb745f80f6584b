// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/keys.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "apiserver/filters/authn/jose/jws.h"
#include "apiserver/filters/authn/jose/openssl_ptr.h"
#include "base/base64.h"

namespace cox::apiserver {
namespace {

using BioPtr = OpenSslPtr<BIO, BIO_free>;
using BignumPtr = OpenSslPtr<BIGNUM, BN_clear_free>;
using DigestPtr = OpenSslPtr<EVP_MD_CTX, EVP_MD_CTX_free>;
using EcSignaturePtr = OpenSslPtr<ECDSA_SIG, ECDSA_SIG_free>;
using X509Ptr = OpenSslPtr<X509, X509_free>;

constexpr int kMinRsaBits = 2048;

// A JWS signature algorithm (RFC 7518).
struct Algorithm {
  std::string_view name;
  const EVP_MD* (*digest)();
  // For EC: the curve's name in OpenSSL and in JWK, and the size of one coordinate in bytes.
  std::string_view group;
  std::string_view curve;
  int coordinate = 0;
};
constexpr Algorithm kAlgorithms[] = {
    {"RS256", EVP_sha256, "", "", 0},
    {"ES256", EVP_sha256, "prime256v1", "P-256", 32},
    {"ES384", EVP_sha384, "secp384r1", "P-384", 48},
    {"ES512", EVP_sha512, "secp521r1", "P-521", 66},
};

const Algorithm& Named(std::string_view name) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name) return algorithm;
  }
  return kAlgorithms[0];  // names come from this table
}

const Algorithm* AlgorithmOf(EVP_PKEY* key) {
  if (EVP_PKEY_base_id(key) == EVP_PKEY_RSA) {
    return EVP_PKEY_bits(key) >= kMinRsaBits ? &kAlgorithms[0] : nullptr;
  }
  if (EVP_PKEY_base_id(key) != EVP_PKEY_EC) return nullptr;
  char group[64];
  size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group, sizeof(group), &size) != 1) return nullptr;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (!algorithm.group.empty() && algorithm.group == std::string_view(group, size)) {
      return &algorithm;
    }
  }
  return nullptr;
}

const unsigned char* Data(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

BioPtr Reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::shared_ptr<EVP_PKEY> Shared(EVP_PKEY* key) {
  return {key, [](EVP_PKEY* p) { EVP_PKEY_free(p); }};
}

std::string KeyId(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return {};
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(der, static_cast<size_t>(size), digest);
  OPENSSL_free(der);
  return base64::EncodeUrl({reinterpret_cast<char*>(digest), sizeof(digest)});
}

// A big-endian number of the key, padded to `width` if that is not 0.
std::string Number(EVP_PKEY* key, const char* name, int width) {
  BIGNUM* raw = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &raw) != 1) return {};
  const BignumPtr number(raw);
  std::string bytes(static_cast<size_t>(width > 0 ? width : BN_num_bytes(raw)), '\0');
  BN_bn2binpad(raw, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return bytes;
}

// Converts an EC signature from ASN.1 to the JWS format: see VerifyJws.
std::string FromDer(std::string_view der, int coordinate) {
  const unsigned char* at = Data(der);
  const EcSignaturePtr pair(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (pair == nullptr) return {};
  const auto width = static_cast<size_t>(coordinate);
  std::string signature(width * 2, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, coordinate);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + width, coordinate);
  return signature;
}

// Prevents OpenSSL from prompting for a password.
int NoPassword(char*, int, int, void*) { return -1; }

}  // namespace

Result<VerificationKey> VerificationKey::Of(std::shared_ptr<EVP_PKEY> key) {
  const Algorithm* algorithm = AlgorithmOf(key.get());
  if (algorithm == nullptr) {
    return Status::BadRequest(
        "service account keys must be RSA of at least 2048 bits or EC on P-256, P-384 or P-521");
  }
  std::string id = KeyId(key.get());
  if (id.empty()) return Status::BadRequest("service account key: the public half is missing");
  return VerificationKey(std::move(key), algorithm->name, std::move(id));
}

bool VerificationKey::Verify(std::string_view message, std::string_view signature) const {
  return VerifyJws(key_.get(), algorithm_, message, signature);
}

Value VerificationKey::Jwk() const {
  const Algorithm& algorithm = Named(algorithm_);
  Value jwk = Value::MakeObject({{"use", "sig"}, {"kid", id_}, {"alg", algorithm.name}});
  auto put = [&](std::string_view name, const char* number, int width) {
    jwk.as_object()[name] = base64::EncodeUrl(Number(key_.get(), number, width));
  };
  if (algorithm.coordinate == 0) {
    jwk.as_object()["kty"] = "RSA";
    put("n", OSSL_PKEY_PARAM_RSA_N, 0);
    put("e", OSSL_PKEY_PARAM_RSA_E, 0);
    return jwk;
  }
  jwk.as_object()["kty"] = "EC";
  jwk.as_object()["crv"] = algorithm.curve;
  put("x", OSSL_PKEY_PARAM_EC_PUB_X, algorithm.coordinate);
  put("y", OSSL_PKEY_PARAM_EC_PUB_Y, algorithm.coordinate);
  return jwk;
}

Result<SigningKey> SigningKey::Parse(std::string_view pem) {
  const BioPtr bio = Reader(pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr);
  if (key == nullptr)
    return Status::BadRequest("service account signing key: no private key found");
  std::shared_ptr<EVP_PKEY> shared = Shared(key);
  COX_ASSIGN_OR_RETURN(VerificationKey public_key, VerificationKey::Of(shared));
  return SigningKey(std::move(shared), std::move(public_key));
}

Result<std::string> SigningKey::Sign(std::string_view message) const {
  const Algorithm& algorithm = Named(public_.algorithm());
  const Status failed = Status::Internal("could not sign a token");
  const DigestPtr ctx(EVP_MD_CTX_new());
  size_t size = 0;
  if (EVP_DigestSignInit(ctx.get(), nullptr, algorithm.digest(), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(ctx.get(), nullptr, &size, Data(message), message.size()) != 1) {
    return failed;
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(ctx.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Data(message), message.size()) != 1) {
    return failed;
  }
  signature.resize(size);
  if (algorithm.coordinate > 0) signature = FromDer(signature, algorithm.coordinate);
  return signature.empty() ? Result<std::string>(failed) : signature;
}

Result<std::vector<VerificationKey>> ParseVerificationKeys(std::string_view pem) {
  std::vector<VerificationKey> keys;
  constexpr std::string_view kBegin = "-----BEGIN ";
  for (size_t at = pem.find(kBegin); at != pem.npos; at = pem.find(kBegin, at + kBegin.size())) {
    const std::string_view block = pem.substr(at);
    const std::string_view type = block.substr(kBegin.size(), block.find('\n') - kBegin.size());
    const BioPtr bio = Reader(block);
    EVP_PKEY* key = nullptr;
    if (type.starts_with("EC PARAMETERS")) continue;  // precedes EC keys
    if (type.starts_with("CERTIFICATE")) {
      const X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr));
      if (certificate != nullptr) key = X509_get_pubkey(certificate.get());
    } else if (type.find("PRIVATE KEY") != type.npos) {
      key = PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr);
    } else {
      key = PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr);
    }
    if (key == nullptr) return Status::BadRequest("service account key: a PEM block holds no key");
    COX_ASSIGN_OR_RETURN(VerificationKey parsed, VerificationKey::Of(Shared(key)));
    keys.push_back(std::move(parsed));
  }
  if (keys.empty()) return Status::BadRequest("service account key: no key found in the PEM");
  return keys;
}

Result<std::string> GenerateSigningKeyPem() {
  const std::shared_ptr<EVP_PKEY> key = Shared(EVP_EC_gen("P-256"));
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (key == nullptr ||
      PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Status::Internal("could not make a service account signing key");
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace cox::apiserver
