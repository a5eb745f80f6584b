// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cmd/component/certificate_files.h"
#include "cmd/component/component.h"
#include "cmd/component/delegated_auth.h"
#include "net/endpoint.h"

namespace cox::cmd {

// The secure port of a component: probes without authorization, /metrics with delegated
// authorization.
//
// Lifetime: serves until it is destroyed; the manager outlives it.
class SecureServing {
 public:
  // Returns null if --secure-port is 0. Without --tls-cert-file it uses a self-signed certificate;
  // changes of the file are used for new connections.
  static Result<std::unique_ptr<SecureServing>> Start(const Context& ctx,
                                                      const Component& component);
  SecureServing(const Context& ctx, const Component& component)  // use Start()
      : manager_(component.manager), auth_(ctx, component.config, component.reviewer) {}

  uint16_t port() const { return endpoint_->port(); }

 private:
  net::Response Answer(Context& ctx, const net::Request& request);

  Manager& manager_;
  DelegatedAuth auth_;
  std::unique_ptr<WatchedFile<net::CertificatePair>> certificate_;
  std::unique_ptr<net::Endpoint> endpoint_;  // last: it calls the other members
};

}  // namespace cox::cmd
