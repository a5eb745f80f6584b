// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/token_cache.h"
#include "apiserver/filters/authn/config/authentication_config.h"
#include "apiserver/filters/authn/oidc/issuer_keys.h"

namespace cox::apiserver {

// The JWT issuers of one configuration, with their keys. Replaced as a whole when the configuration
// changes.
//
// Threads: All methods may be called concurrently. Verified tokens are cached for a few seconds, so
//   that a busy client does not cause a signature check per request.
class JwtIssuers {
 public:
  // Creates a function that reads the URLs of one issuer, trusting `ca_pem` (empty: the system's).
  using Fetcher = std::function<IssuerKeys::Fetch(const std::string& ca_pem)>;
  JwtIssuers(const Context& ctx, const std::vector<JwtIssuerConfig>& issuers,
             const Fetcher& fetcher, AuthnMetrics* metrics);

  // Like AuthMethod::TryToken and AwaitToken; `ctx` null: without blocking.
  AuthMethod::TokenResult Identify(const Context* ctx, std::string_view token) const;

 private:
  struct Issuer {
    JwtIssuerConfig config;
    std::unique_ptr<IssuerKeys> keys;
  };
  const Issuer* IssuerOf(const Jwt& jwt) const;
  Status Verify(const Context* ctx, const Issuer& issuer, const Jwt& jwt) const;
  AuthMethod::TokenResult FindOut(const Context* ctx, std::string_view token,
                                  const TokenDigest& digest) const;

  const Clock& clock_;
  AuthnMetrics* const metrics_;  // may be null
  std::vector<Issuer> issuers_;
  mutable TokenCache<UserInfo> known_;  // thread-safe
};
using JwtIssuersPtr = std::shared_ptr<const JwtIssuers>;

// `issuers` returns the current issuers; null: none.
std::unique_ptr<const AuthMethod> NewJwtMethod(std::function<JwtIssuersPtr()> issuers);

}  // namespace cox::apiserver
