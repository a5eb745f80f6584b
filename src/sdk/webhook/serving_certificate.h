// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "net/certificate.h"
#include "net/tls.h"

namespace cox::sdk {

// The certificate that the server shows, wherever it comes from, and its replacement.
//
// Threads: all methods may be called concurrently.
class ServingCertificate {
 public:
  // From now on for new connections. BadRequest, and what there was stays, if it does not parse or
  // the key is another's.
  Status Install(const net::CertificatePair& pair);

  // Null before the first Install. Stays the same: new certificates are put into it.
  std::shared_ptr<const net::ServerTls> tls() const;
  // OK if there is one, valid at `now`; else Unavailable.
  Status Check(Clock::WallTime now) const;

 private:
  mutable Mutex mu_;
  std::shared_ptr<const net::ServerTls> tls_ COX_GUARDED_BY(mu_);
  net::CertificateInfo info_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
