// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "apiserver/filters/authn/service_account/tokens.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

// How others verify service account tokens: OpenID Connect discovery and the public keys.
//
// Threads: constant after construction; the keys are those of the moment of the request.
class IssuerDiscovery {
 public:
  // `address`: "10.0.0.1:6443", where clients find this server. `tokens` outlive this.
  IssuerDiscovery(const ServiceAccountTokens& tokens, const std::string& address);

  // False if the path is none of /.well-known/openid-configuration and /openid/v1/jwks.
  bool Handle(Call& call) const;

 private:
  const ServiceAccountTokens& tokens_;
  const std::string jwks_uri_;
};

}  // namespace cox::apiserver
