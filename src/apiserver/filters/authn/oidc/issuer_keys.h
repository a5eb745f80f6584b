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

// The keys of an issuer, found by OpenID Connect discovery and kept up to date in the background:
// read at the start (again and again until that works), when somebody asks because a token names a
// key that is not known, and from time to time.
//
// Bounds: however many tokens with unknown keys come, the issuer is not asked more than once in
//   kLeast, and not more than kMaxWaiting threads wait for it.
// Threads: all methods may be called concurrently.
class IssuerKeys {
 public:
  // Reads a URL. Blocks; follows no redirect; the answer is bounded.
  using Fetch = std::function<Result<std::string>(const Context&, const std::string& url)>;

  // `discovery_url` empty: below the issuer's.
  IssuerKeys(const Context& ctx, std::string issuer, std::string discovery_url, Fetch fetch);
  ~IssuerKeys();

  // Null until they were read once. Does not block.
  JwkSetPtr Current() const { return keys_.Load(); }
  // What Current() is after the issuer was asked anew, if it may be; then blocks, until `ctx`
  // stops.
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
  bool asked_ COX_GUARDED_BY(mu_) = true;  // the first time nobody need ask
  int waiting_ COX_GUARDED_BY(mu_) = 0;
  uint64_t rounds_ COX_GUARDED_BY(mu_) = 0;          // that have ended
  Clock::SteadyTime next_ COX_GUARDED_BY(mu_) = {};  // earliest
  Scope scope_;
};

}  // namespace cox::apiserver
