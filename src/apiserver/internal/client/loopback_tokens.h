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

// Bearer tokens that a server gives to callers inside its own process, and knows them by.
//
// A token is 256 bits of randomness, is good as long as the server lives, and is kept as its hash:
// looking one up takes the same time whatever it shares with another, and a dump of memory holds
// none. They are never written anywhere.
// Threads: all methods may be called concurrently.
class LoopbackTokens {
 public:
  // A new token, by which its bearer is `user`.
  Secret<std::string> Add(UserInfo user);
  // It is nobody's from now on.
  void Remove(const Secret<std::string>& token);
  std::optional<UserInfo> Find(std::string_view token) const;

 private:
  mutable Mutex mu_;
  std::map<TokenDigest, UserInfo> users_ COX_GUARDED_BY(mu_);
  // Most servers have none: then no token is hashed for nothing.
  std::atomic<bool> any_ = false;
};

// `tokens` outlives the method.
std::unique_ptr<const AuthMethod> NewLoopbackTokenMethod(const LoopbackTokens& tokens);

}  // namespace cox::apiserver
