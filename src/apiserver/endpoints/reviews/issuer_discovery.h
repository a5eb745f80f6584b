// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

// OpenID Connect discovery and the public keys, by which other parties verify service account
// tokens.
//
// Threads: constant after construction; keys are read at each request.
class IssuerDiscovery {
 public:
  // `address` is the address ("10.0.0.1:6443") of this server for clients. `tokens` must outlive
  // this.
  IssuerDiscovery(const ServiceAccountTokens& tokens, const std::string& address);

  // Returns false unless the path is /.well-known/openid-configuration or /openid/v1/jwks.
  bool Handle(Call& call) const;

 private:
  const ServiceAccountTokens& tokens_;
  const std::string jwks_uri_;
};

}  // namespace cox::apiserver
