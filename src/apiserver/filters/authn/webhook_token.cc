// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/webhook_token.h"

#include <algorithm>
#include <atomic>

#include "apiserver/filters/authn/authenticator/authn_metrics.h"
#include "apiserver/filters/authn/authenticator/token_cache.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// A rejection is cached briefly, because the user may just have been created.
constexpr std::chrono::seconds kRejectedTtl{10};
constexpr std::chrono::milliseconds kFirstRetry{500};
constexpr int kAttempts = 3;
constexpr std::chrono::seconds kTimeout{10};
// The number of threads that may wait for the webhook, so that a hanging webhook or invented tokens
// do not occupy all workers.
constexpr int kMaxPending = 64;
constexpr size_t kMaxTokenSize = size_t{64} * 1024;

std::string_view Text(const Value* value) {
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

std::vector<std::string> Strings(const Value* value) {
  std::vector<std::string> strings;
  if (value == nullptr || !value->is_array()) return strings;
  for (const Value& item : value->as_array()) {
    if (item.is_string()) strings.emplace_back(item.as_string());
  }
  return strings;
}

UserInfo ReadUser(const Value& from) {
  UserInfo user{.name = std::string(Text(from.Find("username"))),
                .uid = std::string(Text(from.Find("uid"))),
                .groups = Strings(from.Find("groups")),
                .extra = {}};
  const Value* extra = from.Find("extra");
  if (extra != nullptr && extra->is_object()) {
    for (const auto& [key, values] : extra->as_object()) {
      user.extra[std::string(key)] = Strings(&values);
    }
  }
  return user;
}

class WebhookTokenMethod final : public AuthMethod {
 public:
  WebhookTokenMethod(PostReview post, WebhookTokenOptions options, const Clock& clock,
                     AuthnMetrics* metrics)
      : post_(std::move(post)), options_(std::move(options)), clock_(clock), metrics_(metrics) {}

  TokenResult TryToken(std::string_view token,
                       std::span<const std::string> audiences) const override {
    if (token.size() > kMaxTokenSize) return std::optional<TokenIdentity>();
    const Clock::SteadyTime now = clock_.Monotonic();
    const std::shared_ptr<const Verdict> known = known_.Find(KeyOf(token, audiences), now);
    if (known == nullptr) return WouldWait();
    if (metrics_ != nullptr) metrics_->TokenLookedUp(true, clock_.Monotonic() - now);
    return *known;
  }

  TokenResult AwaitToken(const Context& ctx, std::string_view token,
                         std::span<const std::string> audiences) const override {
    TokenResult known = TryToken(token, audiences);
    if (known.ok() || !IsWouldWait(known.status())) return known;
    const Clock::SteadyTime begin = clock_.Monotonic();
    if (metrics_ != nullptr) metrics_->FetchBegan();
    Result<Verdict> verdict = Status(Reason::kTooManyRequests, "too many tokens to ask about");
    if (pending_.fetch_add(1) < kMaxPending) {
      verdict = Ask(ctx.WithTimeout(kTimeout), token, audiences);
    }
    pending_.fetch_sub(1);
    if (metrics_ != nullptr) {
      metrics_->FetchEnded(verdict.ok());
      metrics_->TokenLookedUp(false, clock_.Monotonic() - begin);
    }
    // Errors are not cached: the next attempt may succeed.
    if (!verdict.ok()) return Status(Reason::kUnauthorized, verdict.status().message());
    const Clock::Duration keep = verdict->ok() && **verdict
                                     ? Clock::Duration(options_.cache_ttl)
                                     : std::min<Clock::Duration>(options_.cache_ttl, kRejectedTtl);
    if (keep.count() > 0) {
      known_.Remember(KeyOf(token, audiences), std::make_shared<const Verdict>(*verdict),
                      clock_.In(keep));
    }
    return std::move(*verdict);
  }

 private:
  // The result of a review: an identity, none, or the reason for the rejection.
  using Verdict = TokenResult;

  static TokenDigest KeyOf(std::string_view token, std::span<const std::string> audiences) {
    std::string key(token);
    for (const std::string& audience : audiences) key.append(1, '\0').append(audience);
    return DigestOf(key);
  }

  Result<Verdict> Ask(const Context& ctx, std::string_view token,
                      std::span<const std::string> audiences) const {
    Value spec = Value::MakeObject({{"token", token}});
    if (!audiences.empty()) {
      spec.as_object()["audiences"] = Value::Array(audiences.begin(), audiences.end());
    }
    const std::string review =
        json::Write(Value::MakeObject({{"kind", "TokenReview"},
                                       {"apiVersion", "authentication.k8s.io/" + options_.version},
                                       {"metadata", Value::MakeObject()},
                                       {"spec", std::move(spec)},
                                       {"status", Value::MakeObject()}}));
    Clock::Duration pause = kFirstRetry;
    for (int attempt = 1;; ++attempt, pause *= 2) {
      Result<Value> answer = post_(ctx, review);
      if (answer.ok()) return Read(*answer, audiences);
      const Reason why = answer.status().reason();
      const bool may_pass = why == Reason::kServiceUnavailable || why == Reason::kInternalError ||
                            why == Reason::kTooManyRequests;
      if (!may_pass || attempt == kAttempts || !ctx.Sleep(pause).ok()) return answer.status();
    }
  }

  static Verdict Read(const Value& review, std::span<const std::string> audiences) {
    const Value* status = review.is_object() ? review.Find("status") : nullptr;
    if (status == nullptr || !status->is_object()) return std::optional<TokenIdentity>();
    const Value* authenticated = status->Find("authenticated");
    if (authenticated == nullptr || !authenticated->is_bool() || !authenticated->as_bool()) {
      const std::string_view error = Text(status->Find("error"));
      if (error.empty()) return std::optional<TokenIdentity>();
      return Status(Reason::kUnauthorized, std::string(error));
    }
    const Value* user = status->Find("user");
    if (user == nullptr || !user->is_object()) return std::optional<TokenIdentity>();
    TokenIdentity identity{.user = ReadUser(*user), .audiences = std::nullopt};
    // A webhook that does not support audiences verifies for the API audiences only: see
    // Authenticator.
    const Value* theirs = status->Find("audiences");
    if (theirs != nullptr && theirs->is_array() && !theirs->as_array().empty()) {
      std::vector<std::string> both;
      for (std::string& audience : Strings(theirs)) {
        if (std::ranges::find(audiences, audience) != audiences.end()) {
          both.push_back(std::move(audience));
        }
      }
      if (both.empty() && !audiences.empty()) return std::optional<TokenIdentity>();
      identity.audiences = std::move(both);
    }
    return std::optional(std::move(identity));
  }

  const PostReview post_;
  const WebhookTokenOptions options_;
  const Clock& clock_;
  AuthnMetrics* const metrics_;
  mutable std::atomic<int> pending_ = 0;
  mutable TokenCache<Verdict> known_;  // thread-safe
};

}  // namespace

std::unique_ptr<const AuthMethod> NewWebhookTokenMethod(PostReview post,
                                                        WebhookTokenOptions options,
                                                        const Clock& clock, AuthnMetrics* metrics) {
  return std::make_unique<WebhookTokenMethod>(std::move(post), std::move(options), clock, metrics);
}

}  // namespace cox::apiserver
