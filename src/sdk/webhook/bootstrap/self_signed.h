// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/context.h"
#include "base/doorbell.h"
#include "coxswain/client.h"
#include "coxswain/webhook.h"
#include "sdk/webhook/bootstrap/ca_injection.h"
#include "sdk/webhook/bootstrap/material.h"

namespace cox::sdk {

// The certificates in the Secret, made or renewed first where that is needed. However many ask at
// once, one of them writes and all get the same.
Result<Material> AgreeOnMaterial(Context& ctx, Client& client, const SelfSigned& options);

// Sees to it that the server has a certificate of its own making and the API server trusts it.
//
// Threads: Start, then Follow, on one thread, on which the functions are called.
// Ownership: the client outlives it.
class SelfSignedCertificates {
 public:
  using Install = std::function<Status(const net::CertificatePair&)>;

  // `injected` is called each time the CA was found or put where it belongs.
  SelfSignedCertificates(Client& client, SelfSigned options, CaTargets targets, Install install,
                         std::function<void()> injected);

  // Gets the certificate and installs it; tries until it can, or `ctx` stops. BadRequest for
  // options by which no certificate would last.
  Status Start(Context& ctx);
  // Puts the CA where it belongs and keeps it there, and the certificate valid, until `ctx` stops.
  void Follow(Context& ctx);

 private:
  // One look at everything. Before a renewed certificate is shown, its CA is known.
  Status Look(Context& ctx);
  Clock::Duration UntilNextLook(const Clock& clock) const;

  Client& client_;
  const SelfSigned options_;
  const CaTargets targets_;
  const Install install_;
  const std::function<void()> injected_;
  Material material_;  // what was installed
  Doorbell bell_;
};

}  // namespace cox::sdk
