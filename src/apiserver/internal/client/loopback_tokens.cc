// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/client/loopback_tokens.h"

#include <openssl/rand.h>

#include <utility>

#include "base/base64.h"
#include "base/check.h"

namespace cox::apiserver {
namespace {

constexpr size_t kRandomBytes = 32;

class LoopbackTokenMethod final : public AuthMethod {
 public:
  explicit LoopbackTokenMethod(const LoopbackTokens& tokens) : tokens_(tokens) {}

  TokenResult TryToken(std::string_view token, std::span<const std::string>) const override {
    std::optional<UserInfo> user = tokens_.Find(token);
    if (!user) return std::optional<TokenIdentity>();
    return std::optional(TokenIdentity{.user = std::move(*user), .audiences = std::nullopt});
  }

 private:
  const LoopbackTokens& tokens_;
};

}  // namespace

Secret<std::string> LoopbackTokens::Add(UserInfo user) {
  unsigned char random[kRandomBytes];
  COX_CHECK(RAND_bytes(random, sizeof(random)) == 1) << "no randomness";
  std::string token =
      base64::EncodeUrl(std::string_view(reinterpret_cast<const char*>(random), sizeof(random)));
  MutexLock lock(mu_);
  users_.emplace(DigestOf(token), std::move(user));
  any_.store(true, std::memory_order_release);
  return Secret<std::string>(std::move(token));
}

void LoopbackTokens::Remove(const Secret<std::string>& token) {
  MutexLock lock(mu_);
  users_.erase(DigestOf(token.Reveal()));
  any_.store(!users_.empty(), std::memory_order_release);
}

std::optional<UserInfo> LoopbackTokens::Find(std::string_view token) const {
  if (!any_.load(std::memory_order_acquire)) return std::nullopt;
  const TokenDigest digest = DigestOf(token);
  MutexLock lock(mu_);
  const auto at = users_.find(digest);
  return at == users_.end() ? std::nullopt : std::optional(at->second);
}

std::unique_ptr<const AuthMethod> NewLoopbackTokenMethod(const LoopbackTokens& tokens) {
  return std::make_unique<LoopbackTokenMethod>(tokens);
}

}  // namespace cox::apiserver
