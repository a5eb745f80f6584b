// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/filters/authn/jose/keys.h"
#include "apiserver/filters/authn/service_account/claims.h"
#include "base/published.h"
#include "base/result.h"

namespace cox::apiserver {

// What the server is told about service account tokens.
struct ServiceAccountTokenOptions {
  std::vector<std::string> issuers = {"https://kubernetes.default.svc"};  // the first signs
  std::string signing_key_pem;        // empty: no tokens are issued
  std::vector<std::string> key_pems;  // to verify with, besides the signing key's own
  // Where the two are from: read again when they change. Empty: they do not.
  std::string signing_key_file;
  std::vector<std::string> key_files;
  std::vector<std::string> api_audiences;  // empty: the issuers
  std::chrono::seconds max_expiration{0};  // 0: no limit
  // Tokens that kubelets ask for old clients, which do not read them again, live for a year.
  bool extend_expiration = true;
  std::string jwks_uri;  // in the discovery document; empty: of this server
};

// Issues service account tokens and verifies them, as far as that needs no look at the cluster.
//
// Threads: all methods may be called concurrently. The keys may be replaced meanwhile.
class ServiceAccountTokens {
 public:
  // BadRequest for keys that cannot be used.
  static Result<std::shared_ptr<ServiceAccountTokens>> Create(ServiceAccountTokenOptions options);

  // Other keys from now on. BadRequest, and those there are stay, for keys that cannot be used or
  // where one to sign with is missing and was there.
  Status ReplaceKeys(const std::string& signing_key_pem, std::span<const std::string> key_pems);
  // Another number with other keys.
  uint64_t generation() const { return keys_.Load()->generation; }

  const ServiceAccountTokenOptions& options() const { return options_; }
  const std::vector<std::string>& api_audiences() const { return options_.api_audiences; }
  bool can_issue() const { return keys_.Load()->signer.has_value(); }

  // The claims, completed by issuer and a new id, as a token.
  Result<std::string> Issue(ServiceAccountClaims claims) const;

  // The claims of a token that one of our issuers made and one of our keys signed. None: it is
  // somebody else's. Unauthorized: it claims to be ours and is not. Times, audiences and bound
  // objects are still to be checked.
  Result<std::optional<ServiceAccountClaims>> Verify(std::string_view token) const;

  // The keys as JSON Web Key Set and what discovery says (OpenID Connect), both JSON.
  std::string Jwks() const;
  std::string DiscoveryDocument(std::string_view jwks_uri) const;

 private:
  struct Private {};
  // The keys of one moment.
  struct Keys {
    uint64_t generation = 0;
    std::optional<SigningKey> signer;
    std::vector<VerificationKey> verifiers;  // each id once
  };
  static Result<Keys> ParseKeys(const std::string& signing_key_pem,
                                std::span<const std::string> key_pems);

 public:
  // For Create.
  ServiceAccountTokens(Private, ServiceAccountTokenOptions options, Keys keys);

 private:
  const ServiceAccountTokenOptions options_;
  Published<const Keys> keys_;  // never null
};

// OK if now is between the times of the claims, with a minute for clocks that differ. Unauthorized.
Status CheckTimes(const ServiceAccountClaims& claims, int64_t now);
// Which of `wanted` the token is for. Unauthorized if none.
Result<std::vector<std::string>> MatchAudiences(const ServiceAccountClaims& claims,
                                                std::span<const std::string> wanted);

// Clocks of servers may differ by this much.
inline constexpr int64_t kTokenLeewaySeconds = 60;

}  // namespace cox::apiserver
