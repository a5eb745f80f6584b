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

// An external JWT issuer, and the mapping of its claims to users.
struct JwtIssuerConfig {
  // A claim, and the prefix for its value.
  struct Mapping {
    std::string claim;
    std::string prefix;
  };

  std::string url;                     // https; the "iss" claim
  std::string discovery_url;           // of its OpenID configuration; empty: below `url`
  std::string ca_pem;                  // empty: the system's CAs
  std::vector<std::string> audiences;  // a token must contain one of them
  Mapping username;
  std::optional<Mapping> groups;
  std::string uid_claim;  // empty: no uid
  std::map<std::string, std::string> required_claims;
  std::vector<std::string> signing_algorithms;  // empty: all supported
};

// Anonymous access.
struct AnonymousConfig {
  bool enabled = true;
  std::vector<std::string> paths;  // only these paths; empty: all

  bool Allows(std::string_view path) const;
};

// The file of --authentication-config.
//
// CEL expressions are not supported: claimMappings and claimValidationRules with an expression,
// claimMappings.extra and userValidationRules are rejected.
struct AuthenticationConfiguration {
  std::vector<JwtIssuerConfig> jwt;
  std::optional<AnonymousConfig> anonymous;  // none: the flag decides

  // Parses an AuthenticationConfiguration of apiserver.config.k8s.io/v1 or v1beta1. No issuer may
  // have the URL of one of `service_account_issuers`. Errors: BadRequest with all invalid fields.
  static Result<AuthenticationConfiguration> Parse(
      std::string_view text, std::span<const std::string> service_account_issuers);
};

// The --oidc flags as an issuer. Errors: BadRequest with the flag.
struct OidcFlags {
  std::string issuer_url, client_id, ca_pem;
  std::string username_claim = "sub", username_prefix, groups_claim, groups_prefix;
  std::vector<std::string> signing_algorithms = {"RS256"};
  std::vector<std::string> required_claims;  // "name=value"
};
Result<JwtIssuerConfig> IssuerOf(const OidcFlags& flags,
                                 std::span<const std::string> service_account_issuers);

}  // namespace cox::apiserver
