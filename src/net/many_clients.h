// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "net/client.h"
#include "net/tls.h"

// Thousands of clients of one server in one process, each with its own certificate.
namespace cox::net {

// A client certificate and its key, ready for use. Constant after construction.
class ClientIdentity {
 public:
  virtual ~ClientIdentity() = default;
};

// Issues many certificates of one CA that share one private key, which is generated once: without
// keys to generate, encode and parse, a certificate costs one signature.
//
// Threads: constant after construction.
class CertificateIssuer {
 public:
  // BadRequest if the PEM does not parse, the key does not match, or the certificate is not a CA.
  static Result<std::unique_ptr<CertificateIssuer>> Create(const CertificatePair& ca);
  virtual ~CertificateIssuer() = default;

  // The validity of the certificate is relative to `now`, like that of MakeCertificateAt.
  virtual Result<std::shared_ptr<const ClientIdentity>> Issue(const CertificateRequest& request,
                                                              Clock::WallTime now) const = 0;
};

// Creates clients that differ only in their identity and loop. They share one TLS context: one per
// client, with its parsed certificate, costs about 1.4 ms of CPU time and 30 KB.
//
// Threads: constant after construction. Its clients may outlive it.
class ClientFactory {
 public:
  // Ignores the certificate and the loop in `options`. Errors: like Client::Create.
  static Result<std::unique_ptr<ClientFactory>> Create(ClientOptions options);
  virtual ~ClientFactory() = default;

  virtual std::unique_ptr<Client> Make(std::shared_ptr<const ClientIdentity> identity,
                                       std::shared_ptr<EventLoop> loop) const = 0;
};

}  // namespace cox::net
