// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cox::apiserver {

// Somebody else who makes tokens (JWT) for users, and how a user is read from them.
struct JwtIssuerConfig {
  // A claim whose value is a name, and what is put before it.
  struct Mapping {
    std::string claim;
    std::string prefix;
  };

  std::string url;                     // https; what tokens call their issuer
  std::string discovery_url;           // where its configuration is; empty: below `url`
  std::string ca_pem;                  // empty: the system's
  std::vector<std::string> audiences;  // a token must be for one of them
  Mapping username;
  std::optional<Mapping> groups;
  std::string uid_claim;  // empty: users have no uid
  std::map<std::string, std::string> required_claims;
  std::vector<std::string> signing_algorithms;  // empty: all that are known
};

// Who may come without a credential.
struct AnonymousConfig {
  bool enabled = true;
  std::vector<std::string> paths;  // to these alone; empty: everywhere

  bool Allows(std::string_view path) const;
};

// The file of --authentication-config.
//
// What needs expressions (CEL) is refused: claimMappings and claimValidationRules with an
// expression, claimMappings.extra, userValidationRules.
struct AuthenticationConfiguration {
  std::vector<JwtIssuerConfig> jwt;
  std::optional<AnonymousConfig> anonymous;  // none: the flag decides

  // AuthenticationConfiguration of apiserver.config.k8s.io/v1 or v1beta1. BadRequest with all that
  // is wrong. `service_account_issuers`: no other may call itself one of them.
  static Result<AuthenticationConfiguration> Parse(
      std::string_view text, std::span<const std::string> service_account_issuers);
};

// The --oidc flags as an issuer. BadRequest, naming the flag.
struct OidcFlags {
  std::string issuer_url, client_id, ca_pem;
  std::string username_claim = "sub", username_prefix, groups_claim, groups_prefix;
  std::vector<std::string> signing_algorithms = {"RS256"};
  std::vector<std::string> required_claims;  // "name=value"
};
Result<JwtIssuerConfig> IssuerOf(const OidcFlags& flags,
                                 std::span<const std::string> service_account_issuers);

}  // namespace cox::apiserver
