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

// Issuers of tokens as one configuration names them, with their keys. Replaced as a whole where the
// configuration changes.
//
// Threads: all methods may be called concurrently. What was verified is remembered for a few
//   seconds, so that a busy client costs one signature and not hundreds.
class JwtIssuers {
 public:
  // Reads URLs of one issuer, trusting `ca_pem` (empty: the system's).
  using Fetcher = std::function<IssuerKeys::Fetch(const std::string& ca_pem)>;
  JwtIssuers(const Context& ctx, const std::vector<JwtIssuerConfig>& issuers,
             const Fetcher& fetcher, AuthnMetrics* metrics);

  // As AuthMethod::TryToken and AwaitToken; `ctx` null: without blocking.
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
  mutable TokenCache<UserInfo> known_;  // synchronises itself
};
using JwtIssuersPtr = std::shared_ptr<const JwtIssuers>;

// `issuers` gives those of this moment; null: there are none.
std::unique_ptr<const AuthMethod> NewJwtMethod(std::function<JwtIssuersPtr()> issuers);

}  // namespace cox::apiserver
