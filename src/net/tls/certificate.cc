// SPDX-License-Identifier: Apache-2.0
// MakeCertificate and CertificateIssuer: ECDSA P-256 certificates, signed by a CA or self-signed.
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <optional>
#include <utility>

#include "net/certificate.h"
#include "net/tls.h"
#include "net/tls/client_identity.h"
#include "net/tls/openssl.h"
#include "net/tls/record_buffers.h"

namespace cox::net {
namespace {

Status Failed(std::string_view what) {
  return Status::Internal("making a certificate: " + std::string(what) + ": " + OpenSslErrorText());
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

bool AddName(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Names are added as objects, not through OpenSSL's configuration syntax, which interprets commas
// and colons.
bool AddAlternativeNames(X509* certificate, const CertificateRequest& request) {
  if (request.dns_names.empty() && request.ip_addresses.empty()) return true;
  const GeneralNamesPtr names(sk_GENERAL_NAME_new_null());
  for (const std::string& dns : request.dns_names) {
    GENERAL_NAME* name = GENERAL_NAME_new();
    ASN1_IA5STRING* text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, dns.data(), static_cast<int>(dns.size()));
    GENERAL_NAME_set0_value(name, GEN_DNS, text);
    sk_GENERAL_NAME_push(names.get(), name);
  }
  for (const std::string& address : request.ip_addresses) {
    ASN1_OCTET_STRING* octets = a2i_IPADDRESS(address.c_str());
    if (octets == nullptr) return false;
    GENERAL_NAME* name = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(name, GEN_IPADD, octets);
    sk_GENERAL_NAME_push(names.get(), name);
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

bool SetSerial(X509* certificate) {
  unsigned char serial[16];
  if (RAND_bytes(serial, sizeof(serial)) != 1) return false;
  serial[0] &= 0x7f;  // positive
  BIGNUM* number = BN_bin2bn(serial, sizeof(serial), nullptr);
  const bool set = number != nullptr &&
                   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool AddUsages(X509* certificate, X509* issuer, const CertificateRequest& request) {
  if (request.is_ca) {
    return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
           AddExtension(certificate, issuer, NID_key_usage,
                        "critical,digitalSignature,keyEncipherment,keyCertSign") &&
           AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  }
  return AddExtension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, issuer, NID_key_usage,
                      "critical,digitalSignature,keyEncipherment") &&
         AddExtension(certificate, issuer, NID_ext_key_usage,
                      request.client_auth ? "clientAuth" : "serverAuth");
}

// Valid from an hour ago, for clients whose clocks are slow. `now` nullopt: the system time.
void SetTimes(X509* certificate, int days, std::optional<time_t> now) {
  time_t* const from = now ? &*now : nullptr;
  X509_time_adj_ex(X509_getm_notBefore(certificate), 0, -3600, from);
  X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, from);
}

// `issuer` null: self-signed. A certificate for `key`.
Result<X509Ptr> Sign(const CertificateRequest& request, EVP_PKEY* key,
                     const ParsedCertificate* issuer, std::optional<time_t> now) {
  X509Ptr certificate(X509_new());
  if (certificate == nullptr) return Failed("allocation");
  X509_set_version(certificate.get(), X509_VERSION_3);
  SetTimes(certificate.get(), request.days, now);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  bool named = SetSerial(certificate.get());
  for (const std::string& organization : request.organizations) {
    named = named && AddName(subject, "O", organization);
  }
  if (!request.common_name.empty()) named = named && AddName(subject, "CN", request.common_name);
  if (!named || X509_set_pubkey(certificate.get(), key) != 1) return Failed("subject");

  X509* const issuer_certificate = issuer != nullptr ? issuer->leaf.get() : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer_certificate));
  if (!AddUsages(certificate.get(), issuer_certificate, request)) return Failed("extensions");
  if (!AddAlternativeNames(certificate.get(), request)) {
    ERR_clear_error();
    return Status::BadRequest("making a certificate: bad name or address");
  }
  // Omitted if the issuer has no subject key identifier.
  if (issuer != nullptr) {
    AddExtension(certificate.get(), issuer_certificate, NID_authority_key_identifier, "keyid");
    ERR_clear_error();
  }
  if (X509_sign(certificate.get(), issuer != nullptr ? issuer->key.get() : key, EVP_sha256()) ==
      0) {
    return Failed("signing");
  }
  return certificate;
}

Result<std::string> CertificatePem(X509* certificate) {
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(pem.get(), certificate) != 1) return Failed("writing PEM");
  return Contents(pem.get());
}

Result<std::string> KeyPem(EVP_PKEY* key) {
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(pem.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed("writing PEM");
  }
  return Contents(pem.get());
}

Result<CertificatePair> Make(const CertificateRequest& request, const CertificatePair* issuer,
                             std::optional<time_t> now) {
  RecordBuffers::Install();
  ERR_clear_error();
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("key");
  ParsedCertificate signer;
  if (issuer != nullptr) {
    COX_ASSIGN_OR_RETURN(signer, ParseCertificatePair(issuer->certificate_pem, issuer->key_pem));
  }
  COX_ASSIGN_OR_RETURN(const X509Ptr certificate,
                       Sign(request, key.get(), issuer != nullptr ? &signer : nullptr, now));
  CertificatePair made;
  COX_ASSIGN_OR_RETURN(made.certificate_pem, CertificatePem(certificate.get()));
  COX_ASSIGN_OR_RETURN(made.key_pem, KeyPem(key.get()));
  return made;
}

class SharedKeyIssuer final : public CertificateIssuer {
 public:
  SharedKeyIssuer(ParsedCertificate ca, KeyPtr key) : ca_(std::move(ca)), key_(std::move(key)) {}

  Result<std::shared_ptr<const ClientIdentity>> Issue(const CertificateRequest& request,
                                                      Clock::WallTime now) const override {
    ERR_clear_error();
    COX_ASSIGN_OR_RETURN(X509Ptr certificate, Sign(request, key_.get(), &ca_,
                                                   std::chrono::system_clock::to_time_t(now)));
    EVP_PKEY_up_ref(key_.get());
    return std::make_shared<const ParsedIdentity>(std::move(certificate), KeyPtr(key_.get()));
  }

 private:
  const ParsedCertificate ca_;
  const KeyPtr key_;
};

}  // namespace

Result<CertificatePair> MakeCertificate(const CertificateRequest& request,
                                        const CertificatePair* issuer) {
  return Make(request, issuer, std::nullopt);
}

Result<CertificatePair> MakeCertificateAt(const CertificateRequest& request,
                                          const CertificatePair* issuer, Clock::WallTime now) {
  return Make(request, issuer, std::chrono::system_clock::to_time_t(now));
}

Result<std::unique_ptr<CertificateIssuer>> CertificateIssuer::Create(const CertificatePair& ca) {
  RecordBuffers::Install();
  ERR_clear_error();
  COX_ASSIGN_OR_RETURN(ParsedCertificate parsed,
                       ParseCertificatePair(ca.certificate_pem, ca.key_pem));
  if (X509_check_ca(parsed.leaf.get()) == 0) {
    return Status::BadRequest("the certificate is not that of a CA");
  }
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("key");
  return std::unique_ptr<CertificateIssuer>(
      std::make_unique<SharedKeyIssuer>(std::move(parsed), std::move(key)));
}

}  // namespace cox::net
