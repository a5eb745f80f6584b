// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "net/many_clients.h"
#include "net/tls/openssl.h"

namespace cox::net {

// The certificate and key behind a ClientIdentity. There is no other subclass.
class ParsedIdentity final : public ClientIdentity {
 public:
  ParsedIdentity(X509Ptr certificate, KeyPtr key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  // Makes a connection use it.
  Status ApplyTo(SSL* ssl) const {
    // Otherwise OpenSSL also sends the issuer if the context trusts it.
    SSL_set_mode(ssl, SSL_MODE_NO_AUTO_CHAIN);
    if (SSL_use_certificate(ssl, certificate_.get()) == 1 &&
        SSL_use_PrivateKey(ssl, key_.get()) == 1) {
      return {};
    }
    return Status::Internal("client certificate: " + OpenSslErrorText());
  }
  X509* certificate() const { return certificate_.get(); }

 private:
  const X509Ptr certificate_;
  const KeyPtr key_;
};

}  // namespace cox::net
