// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "net/certificate.h"
#include "net/tls.h"
#include "sdk/webhook/metrics.h"

namespace cox::sdk {

// The certificate that the server shows, wherever it comes from, and its replacement.
//
// Threads: all methods may be called concurrently.
class ServingCertificate {
 public:
  explicit ServingCertificate(WebhookMetrics& metrics) : metrics_(metrics) {}

  // From now on for new connections; counted. BadRequest, and what there was stays, if it does not
  // parse or the key is another's.
  Status Install(const net::CertificatePair& pair);
  // Counts an attempt that ended before there was anything to install.
  void CountUnreadable();

  // Null before the first Install. Stays the same: new certificates are put into it.
  std::shared_ptr<const net::ServerTls> tls() const;
  // OK if there is one, valid at `now`; else Unavailable.
  Status Check(Clock::WallTime now) const;

 private:
  Status InstallLocked(const net::CertificatePair& pair) COX_REQUIRES(mu_);

  WebhookMetrics& metrics_;
  mutable Mutex mu_;
  std::shared_ptr<const net::ServerTls> tls_ COX_GUARDED_BY(mu_);
  net::CertificateInfo info_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
