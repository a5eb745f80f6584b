// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <string>

#include "base/check.h"
#include "net/tls.h"
#include "net/tls/openssl.h"

// Certificates that are valid, except that their cryptography is too weak.
namespace cox::net {

enum class Weakness { kShortKey, kSha1Signature };

template <class Write>
std::string PemOf(Write write) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  COX_CHECK(write(out.get()) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<size_t>(size)};
}

// The first certificate of a PEM text, in DER.
inline std::string DerOf(const std::string& pem) {
  const auto parsed = ParseCertificates(pem);
  COX_CHECK_OK(parsed.status());
  X509* const first = sk_X509_value(parsed->get(), 0);
  std::string der(static_cast<size_t>(i2d_X509(first, nullptr)), '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  COX_CHECK(i2d_X509(first, &out) == static_cast<int>(der.size()));
  return der;
}

// A certificate for `request`, signed by `ca`, with the weakness.
inline CertificatePair WeakCertificate(const CertificateRequest& request, const CertificatePair& ca,
                                       Weakness weakness) {
  auto good = MakeCertificate(request, &ca);
  COX_CHECK_OK(good.status());
  auto parsed = ParseCertificatePair(good->certificate_pem, good->key_pem);
  auto issuer = ParseCertificatePair(ca.certificate_pem, ca.key_pem);
  COX_CHECK(parsed.ok() && issuer.ok());
  X509* const leaf = parsed->leaf.get();
  KeyPtr key = std::move(parsed->key);
  if (weakness == Weakness::kShortKey) {
    key.reset(EVP_RSA_gen(1024));
    COX_CHECK(key != nullptr && X509_set_pubkey(leaf, key.get()) == 1);
  }
  const EVP_MD* const digest = weakness == Weakness::kSha1Signature ? EVP_sha1() : EVP_sha256();
  COX_CHECK(X509_sign(leaf, issuer->key.get(), digest) > 0);
  return {.certificate_pem = PemOf([&](BIO* out) { return PEM_write_bio_X509(out, leaf); }),
          .key_pem = PemOf([&](BIO* out) {
            return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace cox::net
