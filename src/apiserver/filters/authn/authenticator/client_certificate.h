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

// What a certificate that was verified says of its holder.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string uid;
  std::string credential_id;  // "X509SHA256=<hex>"
};

// The CAs whose client certificates are accepted: the contents of a CA file.
// Threads: constant after construction.
class CaPool {
 public:
  // BadRequest if the PEM holds no certificate.
  static Result<std::shared_ptr<const CaPool>> Parse(std::string_view pem);

  // Whether one of the CAs vouches for a client with this chain (DER, leaf first) at `now`.
  // Unauthorized.
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
// Gives the CAs of this moment; they may change while the server runs.
using CaSource = std::function<CaPoolPtr()>;

// Verifies the certificates of a connection's peer. Those do not change while the connection lasts,
// so it is done once a minute, and again when the CAs have changed. None: there are none.
Result<std::optional<CertificateSubject>> VerifyPeer(const net::Request& request,
                                                     const CaPoolPtr& cas, const Clock& clock);

// Client certificates that one of these CAs signed: the common name is the user, organizations are
// its groups. `clock` outlives the method.
std::unique_ptr<const AuthMethod> NewClientCertificateMethod(CaSource cas, const Clock& clock);

// The certificates of two PEM texts, each once and in order, without those that have expired and
// without what is no certificate.
std::string CombineCertificates(std::string_view a, std::string_view b, Clock::WallTime now);

}  // namespace cox::apiserver
