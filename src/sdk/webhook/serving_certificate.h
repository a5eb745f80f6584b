// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "net/certificate.h"
#include "net/tls.h"

namespace cox::sdk {

// The server's certificate, which can be replaced at run time.
//
// Threads: all methods may be called concurrently.
class ServingCertificate {
 public:
  // Uses the certificate for new connections. BadRequest, without a change, if it does not parse or
  // the key does not match.
  Status Install(const net::CertificatePair& pair);

  // Null before the first Install. The object stays the same; Install replaces its certificate.
  std::shared_ptr<const net::ServerTls> tls() const;
  // OK if a certificate is installed and valid at `now`; otherwise Unavailable.
  Status Check(Clock::WallTime now) const;

 private:
  mutable Mutex mu_;
  std::shared_ptr<const net::ServerTls> tls_ COX_GUARDED_BY(mu_);
  net::CertificateInfo info_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
