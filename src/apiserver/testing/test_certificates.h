// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

// For tests: keys, CSRs and certificates that are generated at run time, so that the repository
// contains none.
namespace cox::apiserver::test_certificates {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;

inline Key NewKey() { return Key(EVP_EC_gen("P-256")); }

template <class Write>
std::string ToPem(Write&& write) {
  std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  write(bio.get());
  char* bytes = nullptr;
  long size = BIO_get_mem_data(bio.get(), &bytes);
  return std::string(bytes, static_cast<size_t>(size));
}

inline std::string KeyPem(const Key& key) {
  return ToPem([&key](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

// A CSR for the user `common_name` with `groups`.
inline std::string RequestPem(const Key& key, const char* common_name = "jane",
                              const std::vector<std::string>& groups = {}) {
  std::unique_ptr<X509_REQ, Free> request(X509_REQ_new());
  X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name), -1, -1, 0);
  for (const std::string& group : groups) {
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "O", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(group.c_str()), -1, -1, 0);
  }
  X509_REQ_set_pubkey(request.get(), key.get());
  X509_REQ_sign(request.get(), key.get(), EVP_sha256());
  return ToPem([&request](BIO* bio) { PEM_write_bio_X509_REQ(bio, request.get()); });
}

// A self-signed certificate.
inline std::string CertificatePem(const Key& key) {
  std::unique_ptr<X509, Free> certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), 1'700'000'000);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), 1'800'000'000);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  return ToPem([&certificate](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); });
}

}  // namespace cox::apiserver::test_certificates
