// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "net/tls.h"

namespace cox::net {

// Issues many certificates of one CA that share one private key, which is generated once. For
// programs that act as many clients: without keys to generate, encode and parse, a certificate
// costs one signature.
//
// Threads: constant after construction.
class CertificateIssuer {
 public:
  // BadRequest if the PEM does not parse, the key does not match, or the certificate is not a CA.
  static Result<std::unique_ptr<CertificateIssuer>> Create(const CertificatePair& ca);
  virtual ~CertificateIssuer() = default;

  // Like MakeCertificateAt of net/certificate.h.
  virtual Result<CertificatePair> Issue(const CertificateRequest& request,
                                        Clock::WallTime now) const = 0;
};

}  // namespace cox::net
