// SPDX-License-Identifier: Apache-2.0
#include "net/tls/tls_engine.h"

#include <algorithm>
#include <cstring>

namespace cox::net {

TlsEngine::TlsEngine(SslPtr ssl) : ssl_(std::move(ssl)) {
  BIO* const bio = BIO_new(Method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);  // takes ownership
}

BIO_METHOD* TlsEngine::Method() {
  // One per process, never freed: connections may live until its end.
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "coxswain");
    BIO_meth_set_read_ex(made, BioRead);
    BIO_meth_set_write_ex(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

int TlsEngine::BioRead(BIO* bio, char* to, size_t room, size_t* got) {
  auto* const self = static_cast<TlsEngine*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (self->in_ == nullptr || self->in_->empty()) {
    BIO_set_retry_read(bio);
    return 0;
  }
  *got = std::min(room, self->in_->size());
  std::memcpy(to, self->in_->data(), *got);
  self->in_->remove_prefix(*got);
  return 1;
}

int TlsEngine::BioWrite(BIO* bio, const char* data, size_t size, size_t* written) {
  auto* const self = static_cast<TlsEngine*>(BIO_get_data(bio));
  if (self->out_ == nullptr) return 0;
  self->out_->append(data, size);
  *written = size;
  return 1;
}

long TlsEngine::BioControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

TlsEngine::State TlsEngine::Explain(int result) {
  in_ = nullptr;
  out_ = nullptr;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return State::kOk;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return State::kWantMore;
    case SSL_ERROR_ZERO_RETURN:
      return State::kClosed;
    default:
      plain_http_ = ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_SSL &&
                    ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
      error_ = OpenSslErrorText();
      if (!SSL_is_server(ssl_.get())) SetVerificationError();
      return State::kFailed;
  }
}

void TlsEngine::SetVerificationError() {
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (verdict == X509_V_OK) return;
  error_ = "tls: failed to verify certificate: x509: ";
  switch (verdict) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      error_ += "certificate signed by unknown authority";
      break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      error_ += "certificate has expired or is not yet valid";
      break;
    default:
      error_ += X509_verify_cert_error_string(verdict);
  }
}

TlsEngine::State TlsEngine::Handshake(std::string_view* in, std::string* out) {
  in_ = in;
  out_ = out;
  ERR_clear_error();
  return Explain(SSL_do_handshake(ssl_.get()));
}

TlsEngine::State TlsEngine::Read(std::string_view* in, std::string* out, char* to, size_t room,
                                 size_t* got) {
  in_ = in;
  out_ = out;
  *got = 0;
  ERR_clear_error();
  return Explain(SSL_read_ex(ssl_.get(), to, room, got));
}

TlsEngine::State TlsEngine::Write(std::string_view plain, std::string* out) {
  out_ = out;
  ERR_clear_error();
  size_t written = 0;
  return Explain(SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written));
}

void TlsEngine::Shutdown(std::string* out) {
  out_ = out;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
  out_ = nullptr;
}

std::string_view TlsEngine::protocol() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::vector<std::string> TlsEngine::PeerCertificates() const {
  std::vector<std::string> result;
  const auto add = [&result](X509* certificate) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate, &der);
    if (size <= 0) return;
    result.emplace_back(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
  };
  // On the server side, OpenSSL's chain does not contain the leaf.
  if (X509* leaf = SSL_get0_peer_certificate(ssl_.get()); leaf != nullptr) add(leaf);
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(ssl_.get());
  for (int i = SSL_is_server(ssl_.get()) ? 0 : 1; i < sk_X509_num(chain); ++i) {
    add(sk_X509_value(chain, i));
  }
  return result;
}

}  // namespace cox::net
