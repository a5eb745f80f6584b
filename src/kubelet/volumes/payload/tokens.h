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
  Clock::WallTime refresh{};  // get another one then
};

// Tokens by which Pods speak for their service accounts.
// Threads: all methods may be called concurrently.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // For the Pod's service account, bound to the Pod. `audience` "": the API server.
  virtual Result<Token> Get(Context& ctx, const core::v1::Pod& pod, const std::string& audience,
                            int64_t seconds) = 0;
  // The Pod has gone.
  virtual void Forget(const std::string& uid) = 0;
};

// Asks the API (TokenRequest), and keeps a token until 80 % of its life, or a day, is over. When it
// cannot be renewed the old one is used as long as it is good; it is asked again in a minute.
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

// When a token that was given at `issued` and ends at `expires` is to be replaced.
Clock::WallTime RefreshTime(Clock::WallTime issued, Clock::WallTime expires);

}  // namespace cox::kubelet
