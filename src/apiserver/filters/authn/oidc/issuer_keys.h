// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/filters/authn/jose/jwks.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/published.h"
#include "base/result.h"
#include "base/scope.h"

namespace cox::apiserver {

// The keys of an issuer, found by OpenID Connect discovery and refreshed in the background: at the
// start (retried until it succeeds), when a token has an unknown key id, and periodically.
//
// Bounds: However many tokens with unknown keys arrive, the issuer is called at most once per
// kLeast, and at most kMaxWaiting threads wait for it.
// Threads: All methods may be called concurrently.
class IssuerKeys {
 public:
  // Reads a URL. Blocks; does not follow redirects; limits the response size.
  using Fetch = std::function<Result<std::string>(const Context&, const std::string& url)>;

  // `discovery_url` empty: derived from the issuer URL.
  IssuerKeys(const Context& ctx, std::string issuer, std::string discovery_url, Fetch fetch);
  ~IssuerKeys();

  // Null until the first successful read. Does not block.
  JwkSetPtr Current() const { return keys_.Load(); }
  // Refreshes the keys if the rate limit allows it, and returns the current keys. Blocks until the
  // refresh is done or `ctx` stops.
  JwkSetPtr Refresh(const Context& ctx);

  static constexpr std::chrono::seconds kRetry{10};
  static constexpr std::chrono::seconds kLeast{5};
  static constexpr std::chrono::hours kReadAgain{1};
  static constexpr std::chrono::seconds kTimeout{10};
  static constexpr int kMaxWaiting = 16;

 private:
  void Run(Context& ctx);
  Result<JwkSetPtr> Read(const Context& ctx) const;

  const std::string issuer_;
  const std::string discovery_url_;
  const Fetch fetch_;
  const Clock& clock_;
  Published<const JwkSet> keys_;
  Mutex mu_;
  CondVar changed_;
  bool requested_ COX_GUARDED_BY(mu_) = true;  // the first read needs no request
  int waiting_ COX_GUARDED_BY(mu_) = 0;
  uint64_t rounds_ COX_GUARDED_BY(mu_) = 0;          // completed
  Clock::SteadyTime next_ COX_GUARDED_BY(mu_) = {};  // earliest time of the next read
  Scope scope_;
};

}  // namespace cox::apiserver
