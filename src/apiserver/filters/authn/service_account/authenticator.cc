// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/authenticator.h"

#include "apiserver/filters/authn/jose/jwt.h"
#include "apiserver/filters/authn/service_account/bound_objects.h"
#include "apiserver/filters/authn/service_account/verified_tokens.h"

namespace cox::apiserver {
namespace {

class ServiceAccountMethod final : public AuthMethod {
 public:
  ServiceAccountMethod(std::shared_ptr<const ServiceAccountTokens> tokens, const Registry& registry,
                       const Clock& clock)
      : tokens_(std::move(tokens)), bound_objects_(registry), clock_(clock) {}

  Result<std::optional<TokenIdentity>> TryToken(
      std::string_view token, std::span<const std::string> audiences) const override {
    if (token.size() > kMaxTokenBytes) return std::optional<TokenIdentity>();
    COX_ASSIGN_OR_RETURN(const VerifiedTokenPtr verified, Verified(token));
    if (verified == nullptr) return std::optional<TokenIdentity>();
    const int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
    COX_ASSIGN_OR_RETURN(std::vector<std::string> matched,
                         MatchAudiences(verified->claims, audiences));
    COX_RETURN_IF_ERROR(CheckTimes(verified->claims, now));
    COX_RETURN_IF_ERROR(bound_objects_.Check(verified->claims, now, verified->memory));
    return std::optional(TokenIdentity{.user = verified->user, .audiences = std::move(matched)});
  }

 private:
  // Null: not a service account token of this cluster.
  Result<VerifiedTokenPtr> Verified(std::string_view token) const {
    const TokenDigest digest = DigestOf(token);
    const Clock::SteadyTime now = clock_.Monotonic();
    const uint64_t keys = tokens_->generation();
    // Replacing the keys invalidates cached tokens immediately.
    VerifiedTokenPtr known = known_.Find(digest, now);
    if (known != nullptr && known->keys == keys) return known;
    COX_ASSIGN_OR_RETURN(std::optional<ServiceAccountClaims> claims, tokens_->Verify(token));
    if (!claims) return VerifiedTokenPtr();
    auto verified = std::make_shared<VerifiedToken>();
    verified->claims = std::move(*claims);
    verified->user = UserOf(verified->claims);
    verified->keys = keys;
    known_.Remember(digest, verified, now + kKeepVerified);
    return VerifiedTokenPtr(std::move(verified));
  }

  const std::shared_ptr<const ServiceAccountTokens> tokens_;
  const BoundObjects bound_objects_;
  const Clock& clock_;
  mutable VerifiedTokens known_;  // thread-safe
};

}  // namespace

std::unique_ptr<const AuthMethod> NewServiceAccountMethod(
    std::shared_ptr<const ServiceAccountTokens> tokens, const Registry& registry,
    const Clock& clock) {
  return std::make_unique<ServiceAccountMethod>(std::move(tokens), registry, clock);
}

}  // namespace cox::apiserver
