// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/tls.h"

// What certificates say and whether they may be believed. How they are made and used: net/tls.h.
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
// Each certificate of a PEM text, as PEM of its own. BadRequest if one does not parse.
Result<std::vector<std::string>> SplitCertificates(std::string_view pem);

// MakeCertificate (net/tls.h) by another clock than the computer's.
Result<CertificatePair> MakeCertificateAt(const CertificateRequest& request,
                                          const CertificatePair* issuer, Clock::WallTime now);

// CAs whose certificates are believed: the contents of a CA file.
//
// Threads: constant after construction.
class TrustedCas {
 public:
  // BadRequest if the PEM holds no certificate.
  static Result<std::shared_ptr<const TrustedCas>> Parse(std::string_view pem);
  virtual ~TrustedCas() = default;

  // Whether one of them vouches, at `now`, for a client with this chain (Peer::certificates).
  // Unauthorized if not, or if the chain is empty.
  virtual Status VerifyClient(const std::vector<std::string>& chain, Clock::WallTime now) const = 0;
};

}  // namespace cox::net
