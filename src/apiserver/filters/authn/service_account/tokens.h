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

// The service account token flags.
struct ServiceAccountTokenOptions {
  std::vector<std::string> issuers = {"https://kubernetes.default.svc"};  // the first signs
  std::string signing_key_pem;        // empty: tokens cannot be issued
  std::vector<std::string> key_pems;  // additional verification keys
  // The source files of the keys, reloaded on change. Empty: the keys are fixed.
  std::string signing_key_file;
  std::vector<std::string> key_files;
  std::vector<std::string> api_audiences;  // empty: the issuers
  std::chrono::seconds max_expiration{0};  // 0: no limit
  // Tokens that kubelets request for legacy clients, which do not reload them, are valid for a
  // year.
  bool extend_expiration = true;
  std::string jwks_uri;  // in the discovery document; empty: this server's
};

// Issues and verifies service account tokens, without checks against the cluster state.
//
// Threads: All methods may be called concurrently. The keys may be replaced meanwhile.
class ServiceAccountTokens {
 public:
  // Errors: BadRequest for keys that cannot be used.
  static Result<std::shared_ptr<ServiceAccountTokens>> Create(ServiceAccountTokenOptions options);

  // Replaces the keys. On error the current keys stay. Errors: BadRequest for keys that cannot be
  // used, or if the signing key would be removed.
  Status ReplaceKeys(const std::string& signing_key_pem, std::span<const std::string> key_pems);
  // Changes when the keys are replaced.
  uint64_t generation() const { return keys_.Load()->generation; }

  const ServiceAccountTokenOptions& options() const { return options_; }
  const std::vector<std::string>& api_audiences() const { return options_.api_audiences; }
  bool can_issue() const { return keys_.Load()->signer.has_value(); }

  // Signs a token with the claims, the issuer and a new id.
  Result<std::string> Issue(ServiceAccountClaims claims) const;

  // The claims of a token from one of the issuers, signed by one of the keys. None: a token of
  // another issuer. Unauthorized: the signature is invalid. The caller must check times, audiences
  // and bound objects.
  Result<std::optional<ServiceAccountClaims>> Verify(std::string_view token) const;

  // The JSON Web Key Set and the OpenID Connect discovery document, both as JSON.
  std::string Jwks() const;
  std::string DiscoveryDocument(std::string_view jwks_uri) const;

 private:
  struct Private {};
  // A set of keys.
  struct Keys {
    uint64_t generation = 0;
    std::optional<SigningKey> signer;
    std::vector<VerificationKey> verifiers;  // without duplicate ids
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

// OK if `now` is within the times of the claims, with a minute of leeway. Errors: Unauthorized.
Status CheckTimes(const ServiceAccountClaims& claims, int64_t now);
// The audiences that `wanted` and the token share. Errors: Unauthorized if there are none.
Result<std::vector<std::string>> MatchAudiences(const ServiceAccountClaims& claims,
                                                std::span<const std::string> wanted);

// The tolerated clock skew between servers.
inline constexpr int64_t kTokenLeewaySeconds = 60;

}  // namespace cox::apiserver
