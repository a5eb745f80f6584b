// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/context.h"
#include "base/notification.h"
#include "coxswain/client.h"
#include "coxswain/webhook.h"
#include "sdk/webhook/bootstrap/ca_injection.h"
#include "sdk/webhook/bootstrap/certificate_set.h"

namespace cox::sdk {

// Returns the certificates in the Secret, after creating or renewing them if necessary. If several
// replicas do this concurrently, one of them writes and all return the same certificates.
Result<CertificateSet> GetOrCreateCertificates(Context& ctx, Client& client,
                                               const SelfSigned& options);

// Maintains the self-signed certificate of the server and its CA in the webhook configurations.
//
// Threads: call Start, then Follow, on one thread; the functions are called on that thread.
// Ownership: the client must outlive this object.
class SelfSignedCertificates {
 public:
  using Install = std::function<Status(const net::CertificatePair&)>;

  // `injected` is called each time all targets contain the CA.
  SelfSignedCertificates(Client& client, SelfSigned options, CaTargets targets, Install install,
                         std::function<void()> injected);

  // Obtains and installs the certificate; retries until it succeeds or `ctx` stops. BadRequest for
  // invalid options.
  Status Start(Context& ctx);
  // Keeps the CA injected and the certificate valid until `ctx` stops.
  void Follow(Context& ctx);

 private:
  // Checks everything once. The CA is injected before a renewed certificate is installed.
  Status Check(Context& ctx);
  Clock::Duration UntilNextCheck(const Clock& clock) const;

  Client& client_;
  const SelfSigned options_;
  const CaTargets targets_;
  const Install install_;
  const std::function<void()> injected_;
  CertificateSet certificates_;  // the installed certificates
  Notification notification_;
};

}  // namespace cox::sdk
