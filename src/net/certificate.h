// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/tls.h"

// Parsing and verification of certificates. net/tls.h creates and uses them.
namespace cox::net {

struct CertificateInfo {
  std::string common_name;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // "127.0.0.1", "::1"
  Clock::WallTime not_before;
  Clock::WallTime not_after;
  bool is_ca = false;

  bool ValidAt(Clock::WallTime now) const { return not_before <= now && now <= not_after; }
};

// The first certificate of a PEM text. BadRequest if there is none.
Result<CertificateInfo> ReadCertificate(std::string_view pem);
// Splits a PEM bundle into one PEM text per certificate. BadRequest if one does not parse.
Result<std::vector<std::string>> SplitCertificates(std::string_view pem);

// Same as MakeCertificate (net/tls.h), with the validity relative to `now` instead of the system
// clock.
Result<CertificatePair> MakeCertificateAt(const CertificateRequest& request,
                                          const CertificatePair* issuer, Clock::WallTime now);

// A set of trusted CAs: the contents of a CA file.
//
// Threads: constant after construction.
class TrustedCas {
 public:
  // BadRequest if the PEM contains no certificate.
  static Result<std::shared_ptr<const TrustedCas>> Parse(std::string_view pem);
  virtual ~TrustedCas() = default;

  // Verifies a client certificate chain (Peer::certificates) against the CAs at time `now`.
  // Unauthorized if verification fails or the chain is empty.
  virtual Status VerifyClient(const std::vector<std::string>& chain, Clock::WallTime now) const = 0;
};

}  // namespace cox::net
