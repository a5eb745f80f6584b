// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/jwt_method.h"

#include <algorithm>

#include "apiserver/filters/authn/authenticator/authn_metrics.h"
#include "apiserver/filters/authn/jose/jws.h"
#include "apiserver/filters/authn/oidc/token_claims.h"

namespace cox::apiserver {
namespace {

// Upstream's cache period.
constexpr std::chrono::seconds kKeep{10};

bool Allows(const JwtIssuerConfig& issuer, std::string_view algorithm) {
  const std::vector<std::string>& allowed = issuer.signing_algorithms;
  // The token must not choose the algorithm: "none" and HMAC are in no list.
  if (allowed.empty())
    return std::ranges::find(JwsAlgorithms(), algorithm) != JwsAlgorithms().end();
  return std::ranges::find(allowed, algorithm) != allowed.end();
}

class JwtMethod final : public AuthMethod {
 public:
  explicit JwtMethod(std::function<JwtIssuersPtr()> issuers) : issuers_(std::move(issuers)) {}

  TokenResult TryToken(std::string_view token, std::span<const std::string>) const override {
    const JwtIssuersPtr issuers = issuers_();
    if (issuers == nullptr) return std::optional<TokenIdentity>();
    return issuers->Identify(nullptr, token);
  }
  TokenResult AwaitToken(const Context& ctx, std::string_view token,
                         std::span<const std::string>) const override {
    const JwtIssuersPtr issuers = issuers_();
    if (issuers == nullptr) return std::optional<TokenIdentity>();
    return issuers->Identify(&ctx, token);
  }

 private:
  const std::function<JwtIssuersPtr()> issuers_;
};

}  // namespace

JwtIssuers::JwtIssuers(const Context& ctx, const std::vector<JwtIssuerConfig>& issuers,
                       const Fetcher& fetcher, AuthnMetrics* metrics)
    : clock_(ctx.clock()), metrics_(metrics) {
  for (const JwtIssuerConfig& config : issuers) {
    issuers_.push_back({config, std::make_unique<IssuerKeys>(ctx, config.url, config.discovery_url,
                                                             fetcher(config.ca_pem))});
  }
}

AuthMethod::TokenResult JwtIssuers::Identify(const Context* ctx, std::string_view token) const {
  if (token.size() > kMaxTokenBytes) return std::optional<AuthMethod::TokenIdentity>();
  const Clock::SteadyTime begin = clock_.Monotonic();
  const TokenDigest digest = DigestOf(token);
  if (const std::shared_ptr<const UserInfo> user = known_.Find(digest, begin)) {
    if (metrics_ != nullptr) metrics_->TokenLookedUp(true, clock_.Monotonic() - begin);
    return std::optional(AuthMethod::TokenIdentity{.user = *user, .audiences = std::nullopt});
  }
  AuthMethod::TokenResult found = FindOut(ctx, token, digest);
  if (metrics_ != nullptr && found.ok() && *found) {
    metrics_->TokenLookedUp(false, clock_.Monotonic() - begin);
  }
  return found;
}

AuthMethod::TokenResult JwtIssuers::FindOut(const Context* ctx, std::string_view token,
                                            const TokenDigest& digest) const {
  const std::optional<Jwt> jwt = ParseJwt(token);
  const Issuer* issuer = jwt ? IssuerOf(*jwt) : nullptr;
  if (issuer == nullptr) return std::optional<AuthMethod::TokenIdentity>();
  COX_RETURN_IF_ERROR(Verify(ctx, *issuer, *jwt));
  const Clock::WallTime now = clock_.Now();
  COX_ASSIGN_OR_RETURN(UserInfo user, UserOfClaims(issuer->config, jwt->claims, now));
  // Not cached beyond the token's expiry.
  const auto left = std::chrono::seconds(ExpiryOf(jwt->claims)) -
                    std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  known_.Remember(digest, std::make_shared<const UserInfo>(user),
                  clock_.In(std::min<std::chrono::seconds>(kKeep, left)));
  return std::optional(
      AuthMethod::TokenIdentity{.user = std::move(user), .audiences = std::nullopt});
}

const JwtIssuers::Issuer* JwtIssuers::IssuerOf(const Jwt& jwt) const {
  const Value* name = jwt.claims.Find("iss");
  if (name == nullptr || !name->is_string()) return nullptr;
  for (const Issuer& issuer : issuers_) {
    if (issuer.config.url == name->as_string()) return &issuer;
  }
  return nullptr;
}

Status JwtIssuers::Verify(const Context* ctx, const Issuer& issuer, const Jwt& jwt) const {
  if (!Allows(issuer.config, jwt.algorithm)) {
    return Status(Reason::kUnauthorized, "oidc: malformed jwt: unexpected signature algorithm");
  }
  JwkSetPtr keys = issuer.keys->Current();
  if (keys != nullptr && keys->Verify(jwt)) return {};
  const Status refused(Reason::kUnauthorized, "oidc: failed to verify id token signature");
  // The named key is known and did not sign the token, so a refresh cannot help.
  if (keys != nullptr && !jwt.key_id.empty() && keys->Has(jwt.key_id)) return refused;
  if (ctx == nullptr) return AuthMethod::WouldWait();
  keys = issuer.keys->Refresh(*ctx);
  if (keys == nullptr) {
    return Status(Reason::kUnauthorized, "oidc: authenticator not initialized");
  }
  return keys->Verify(jwt) ? Status() : refused;
}

std::unique_ptr<const AuthMethod> NewJwtMethod(std::function<JwtIssuersPtr()> issuers) {
  return std::make_unique<JwtMethod>(std::move(issuers));
}

}  // namespace cox::apiserver
