// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/certificates/certificate_pem.h"

#include <openssl/x509.h>

#include <memory>

#include "apiserver/registry/validation/pem.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct FreeRequest {
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

const unsigned char* Bytes(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// `der` contains one or more certificates.
std::string CertificatesProblem(const std::string& der) {
  const unsigned char* at = Bytes(der);
  const unsigned char* end = at + der.size();
  if (at == end) return "found CERTIFICATE PEM block containing 0 certificates";
  while (at < end) {
    std::unique_ptr<X509, FreeCertificate> certificate(
        d2i_X509(nullptr, &at, static_cast<long>(end - at)));
    if (certificate == nullptr) return "x509: malformed certificate";
  }
  return "";
}

using RequestPtr = std::unique_ptr<X509_REQ, FreeRequest>;

Result<RequestPtr> ParseRequest(std::string_view pem) {
  std::optional<PemBlock> block = NextPemBlock(pem);
  if (!block || block->type != "CERTIFICATE REQUEST") {
    return Status::BadRequest("PEM block type must be CERTIFICATE REQUEST");
  }
  if (block->bytes.empty()) return Status::BadRequest("asn1: syntax error: sequence truncated");
  const unsigned char* at = Bytes(block->bytes);
  const unsigned char* end = at + block->bytes.size();
  RequestPtr request(d2i_X509_REQ(nullptr, &at, static_cast<long>(block->bytes.size())));
  if (request == nullptr) {
    return Status::BadRequest("asn1: structure error: malformed certificate request");
  }
  if (at != end) return Status::BadRequest("asn1: syntax error: trailing data");
  return request;
}

}  // namespace

std::string CertificateRequestProblem(std::string_view pem) {
  return ParseRequest(pem).status().message();
}

Result<std::vector<std::string>> CertificateRequestOrganizations(std::string_view pem) {
  COX_ASSIGN_OR_RETURN(const RequestPtr request, ParseRequest(pem));
  std::vector<std::string> organizations;
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_organizationName, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) return Status::BadRequest("asn1: structure error: malformed organization");
    organizations.emplace_back(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return organizations;
}

Result<std::string> CertificateRequestCommonName(std::string_view pem) {
  std::string problem = CertificateRequestProblem(pem);
  if (!problem.empty()) return Status::BadRequest(std::move(problem));
  const std::optional<PemBlock> block = NextPemBlock(pem);
  const unsigned char* at = Bytes(block->bytes);
  const std::unique_ptr<X509_REQ, FreeRequest> request(
      d2i_X509_REQ(nullptr, &at, static_cast<long>(block->bytes.size())));
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  // The last one counts, as in Go.
  int last = -1;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;) last = i;
  if (last < 0) return std::string();
  unsigned char* utf8 = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, last)));
  if (size < 0) return Status::BadRequest("asn1: syntax error: common name is no text");
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return name;
}

std::string CertificateChainProblem(std::string_view pem) {
  if (pem.empty()) return "";
  size_t blocks = 0;
  while (std::optional<PemBlock> block = NextPemBlock(pem)) {
    if (block->type != "CERTIFICATE") {
      return "only CERTIFICATE PEM blocks are allowed, found " + Quote(block->type);
    }
    if (block->has_headers) return "no PEM block headers are permitted";
    ++blocks;
    std::string problem = CertificatesProblem(block->bytes);
    if (!problem.empty()) return problem;
  }
  return blocks == 0 ? "must contain at least one CERTIFICATE PEM block" : "";
}

}  // namespace cox::apiserver
