// SPDX-License-Identifier: Apache-2.0
#include "net/tls/openssl.h"

#include <openssl/pem.h>

namespace cox::net {
namespace {

BioPtr ReadOnly(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Encrypted keys are not supported: prevents OpenSSL from prompting on the terminal.
int NoPassPhrase(char*, int, int, void*) { return 0; }

}  // namespace

std::string OpenSslErrorText() {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    const char* reason = ERR_reason_error_string(code);
    if (reason == nullptr) continue;
    if (!text.empty()) text += ", ";
    text += reason;
  }
  return text.empty() ? "unknown error" : text;
}

Result<X509StackPtr> ParseCertificates(std::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = ReadOnly(pem);
  X509StackPtr stack(sk_X509_new_null());
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassPhrase, nullptr)) {
    sk_X509_push(stack.get(), certificate);
  }
  const unsigned long last = ERR_peek_last_error();
  const bool at_end = last == 0 || (ERR_GET_LIB(last) == ERR_LIB_PEM &&
                                    ERR_GET_REASON(last) == PEM_R_NO_START_LINE);
  if (!at_end) return Status::BadRequest("certificate PEM: " + OpenSslErrorText());
  ERR_clear_error();
  if (sk_X509_num(stack.get()) == 0) return Status::BadRequest("certificate PEM: no certificate");
  return stack;
}

Result<ParsedCertificate> ParseCertificatePair(std::string_view certificate_pem,
                                               std::string_view key_pem) {
  COX_ASSIGN_OR_RETURN(X509StackPtr chain, ParseCertificates(certificate_pem));
  ParsedCertificate parsed;
  parsed.leaf.reset(sk_X509_shift(chain.get()));
  parsed.chain = std::move(chain);
  const BioPtr bio = ReadOnly(key_pem);
  parsed.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassPhrase, nullptr));
  if (parsed.key == nullptr) return Status::BadRequest("key PEM: " + OpenSslErrorText());
  if (X509_check_private_key(parsed.leaf.get(), parsed.key.get()) != 1) {
    ERR_clear_error();
    return Status::BadRequest("the key does not belong to the certificate");
  }
  return parsed;
}

}  // namespace cox::net
