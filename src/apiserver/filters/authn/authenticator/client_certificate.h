// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/x509.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/jose/openssl_ptr.h"
#include "base/clock.h"

namespace cox::apiserver {

// The subject of a verified certificate.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string uid;
  std::string credential_id;  // "X509SHA256=<hex>"
};

// The CAs for client certificates, from a CA file.
//
// Threads: Immutable after construction.
class CaPool {
 public:
  // Errors: BadRequest if the PEM contains no certificate.
  static Result<std::shared_ptr<const CaPool>> Parse(std::string_view pem);

  // Verifies a client certificate chain (DER, leaf first) at `now`. Errors: Unauthorized.
  Result<CertificateSubject> Verify(const std::vector<std::string>& chain,
                                    Clock::WallTime now) const;
  const std::string& pem() const { return pem_; }

 private:
  struct Private {};

 public:
  // For Parse.
  CaPool(Private, OpenSslPtr<X509_STORE, X509_STORE_free> store, std::string pem)
      : store_(std::move(store)), pem_(std::move(pem)) {}

 private:
  const OpenSslPtr<X509_STORE, X509_STORE_free> store_;
  const std::string pem_;
};
using CaPoolPtr = std::shared_ptr<const CaPool>;
// Returns the current CAs, which may change while the server runs.
using CaSource = std::function<CaPoolPtr()>;

// Verifies the client certificate of a connection. The result is cached per connection for a
// minute, or until the CAs change. None if there is no certificate.
Result<std::optional<CertificateSubject>> VerifyPeer(const net::Request& request,
                                                     const CaPoolPtr& cas, const Clock& clock);

// Client certificates signed by one of these CAs: the common name is the user, the organizations
// are the groups. `clock` must outlive the method.
std::unique_ptr<const AuthMethod> NewClientCertificateMethod(CaSource cas, const Clock& clock);

// The certificates of two PEM texts in order, without duplicates, expired certificates and other
// PEM blocks.
std::string CombineCertificates(std::string_view a, std::string_view b, Clock::WallTime now);

}  // namespace cox::apiserver
