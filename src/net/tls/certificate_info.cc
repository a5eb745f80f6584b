// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <openssl/pem.h>

#include <ctime>

#include "net/certificate.h"
#include "net/tls/openssl.h"
#include "net/tls/record_buffers.h"

namespace cox::net {
namespace {

using StorePtr = std::unique_ptr<X509_STORE, OpenSslFree<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, OpenSslFree<X509_STORE_CTX_free>>;

Clock::WallTime TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_OCTET_STRING* octets) {
  char text[INET6_ADDRSTRLEN] = "";
  const int size = ASN1_STRING_length(octets);
  if (size == 4 || size == 16) {
    inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(octets), text, sizeof(text));
  }
  return text;
}

void ReadNames(X509* certificate, CertificateInfo& info) {
  const GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) info.dns_names.push_back(TextOf(name->d.dNSName));
    if (name->type == GEN_IPADD) info.ip_addresses.push_back(AddressOf(name->d.iPAddress));
  }
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) {
    info.common_name = TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  }
}

X509Ptr ParseDer(const std::string& der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  return X509Ptr(d2i_X509(nullptr, &data, static_cast<long>(der.size())));
}

class StoredCas final : public TrustedCas {
 public:
  explicit StoredCas(StorePtr store) : store_(std::move(store)) {}

  Status VerifyClient(const std::vector<std::string>& certificates,
                      Clock::WallTime now) const override {
    const Status refused(Reason::kUnauthorized, "client certificate is not accepted");
    if (certificates.empty()) {
      return Status(Reason::kUnauthorized, "a client certificate is required");
    }
    const X509Ptr leaf = ParseDer(certificates.front());
    const X509StackPtr chain(sk_X509_new_null());
    for (size_t i = 1; i < certificates.size(); ++i) {
      X509Ptr link = ParseDer(certificates[i]);
      if (link == nullptr || sk_X509_push(chain.get(), link.get()) == 0) return refused;
      link.release();  // the chain owns it now
    }
    const StoreContextPtr ctx(X509_STORE_CTX_new());
    if (leaf == nullptr || ctx == nullptr ||
        X509_STORE_CTX_init(ctx.get(), store_.get(), leaf.get(), chain.get()) != 1) {
      return refused;
    }
    X509_STORE_CTX_set_purpose(ctx.get(), X509_PURPOSE_SSL_CLIENT);
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(ctx.get()), kTlsSecurityLevel);
    X509_STORE_CTX_set_time(ctx.get(), 0, std::chrono::system_clock::to_time_t(now));
    const bool good = X509_verify_cert(ctx.get()) == 1;
    ERR_clear_error();
    return good ? Status() : refused;
  }

 private:
  const StorePtr store_;
};

}  // namespace

Result<CertificateInfo> ReadCertificate(std::string_view pem) {
  RecordBuffers::Install();
  COX_ASSIGN_OR_RETURN(const X509StackPtr all, ParseCertificates(pem));
  X509* const first = sk_X509_value(all.get(), 0);
  CertificateInfo info;
  info.not_before = TimeOf(X509_get0_notBefore(first));
  info.not_after = TimeOf(X509_get0_notAfter(first));
  info.is_ca = X509_check_ca(first) > 0;
  ReadNames(first, info);
  return info;
}

Result<std::vector<std::string>> SplitCertificates(std::string_view pem) {
  RecordBuffers::Install();
  COX_ASSIGN_OR_RETURN(const X509StackPtr all, ParseCertificates(pem));
  std::vector<std::string> out;
  for (int i = 0; i < sk_X509_num(all.get()); ++i) {
    const BioPtr bio(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(bio.get(), sk_X509_value(all.get(), i)) != 1) {
      return Status::Internal("writing a certificate: " + OpenSslErrorText());
    }
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    out.emplace_back(data, static_cast<size_t>(size));
  }
  return out;
}

Result<std::shared_ptr<const TrustedCas>> TrustedCas::Parse(std::string_view pem) {
  RecordBuffers::Install();
  COX_ASSIGN_OR_RETURN(const X509StackPtr all, ParseCertificates(pem));
  StorePtr store(X509_STORE_new());
  for (int i = 0; i < sk_X509_num(all.get()); ++i) {
    X509_STORE_add_cert(store.get(), sk_X509_value(all.get(), i));
  }
  // A configured CA is a trust anchor even if it is not self-signed.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return std::shared_ptr<const TrustedCas>(std::make_shared<StoredCas>(std::move(store)));
}

}  // namespace cox::net
