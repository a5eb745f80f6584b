// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authn/authenticator/token_cache.h"
#include "base/mutex.h"
#include "base/secret.h"

namespace cox::apiserver {

// Bearer tokens for callers inside the server's process.
//
// Security: A token has 256 random bits and is valid during the lifetime of the server. Only its
//   hash is stored, so that lookups leak no timing information and memory dumps contain no tokens.
//   Tokens are never persisted.
// Threads: All methods may be called concurrently.
class LoopbackTokens {
 public:
  // Creates a token that authenticates `user`.
  Secret<std::string> Add(UserInfo user);
  // Invalidates the token.
  void Remove(const Secret<std::string>& token);
  std::optional<UserInfo> Find(std::string_view token) const;

 private:
  mutable Mutex mu_;
  std::map<TokenDigest, UserInfo> users_ COX_GUARDED_BY(mu_);
  // Most servers have no loopback tokens, and then need not hash the tokens of requests.
  std::atomic<bool> any_ = false;
};

// `tokens` must outlive the method.
std::unique_ptr<const AuthMethod> NewLoopbackTokenMethod(const LoopbackTokens& tokens);

}  // namespace cox::apiserver
