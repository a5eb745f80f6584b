// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/client.h"

namespace cox::kubelet {

struct Token {
  std::string token;
  Clock::WallTime refresh{};  // when to replace it
};

// Service account tokens of Pods.
// Threads: all methods may be called concurrently.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // A token for the Pod's service account, bound to the Pod. An empty `audience` is the API server.
  virtual Result<Token> Get(Context& ctx, const core::v1::Pod& pod, const std::string& audience,
                            int64_t seconds) = 0;
  // Called when the Pod is gone.
  virtual void Forget(const std::string& uid) = 0;
};

// Gets tokens from the API (TokenRequest) and caches each until 80 % of its lifetime or 24 hours
// have passed. If the renewal fails, the old token is used while it is valid, and the renewal is
// retried after a minute.
class Tokens final : public TokenSource {
 public:
  explicit Tokens(Client& client) : client_(client) {}

  Result<Token> Get(Context& ctx, const core::v1::Pod& pod, const std::string& audience,
                    int64_t seconds) override;
  void Forget(const std::string& uid) override;

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;  // uid, audience, seconds
  struct Entry {
    Token token;
    Clock::WallTime expires;
  };

  Client& client_;
  Mutex mu_;
  std::map<Key, Entry> tokens_ COX_GUARDED_BY(mu_);
};

// When a token that was issued at `issued` and expires at `expires` has to be replaced.
Clock::WallTime RefreshTime(Clock::WallTime issued, Clock::WallTime expires);

}  // namespace cox::kubelet
