// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/user.h"
#include "base/context.h"
#include "base/result.h"
#include "net/http.h"

namespace cox::apiserver {

class AuthnMetrics;

// Authenticates requests by one kind of credential.
//
// Methods are tried in order. A method that does not support the credential returns none; the first
// identity decides.
// Threads: May be used concurrently. Try and TryToken must not block; AwaitToken may.
class AuthMethod {
 public:
  virtual ~AuthMethod() = default;
  // None: no credential of this kind. Unauthorized: an invalid credential of this kind.
  virtual Result<std::optional<UserInfo>> Try(const net::Request&) const {
    return std::optional<UserInfo>();
  }

  struct TokenIdentity {
    UserInfo user;
    // The requested audiences that the token is valid for; none: the token has no audiences.
    std::optional<std::vector<std::string>> audiences;
  };
  using TokenResult = Result<std::optional<TokenIdentity>>;
  // The identity of a bearer token for one of `audiences`. None and Unauthorized as above.
  // ServiceUnavailable (WouldWait): another server must be called first.
  virtual TokenResult TryToken(std::string_view, std::span<const std::string>) const {
    return std::optional<TokenIdentity>();
  }
  // The same, but may block.
  virtual TokenResult AwaitToken(const Context&, std::string_view token,
                                 std::span<const std::string> audiences) const {
    return TryToken(token, audiences);
  }

  static Status WouldWait() { return Status::Unavailable("somebody else must be asked"); }
  static bool IsWouldWait(const Status& status) {
    return status.reason() == Reason::kServiceUnavailable;
  }
};

// Authenticates requests by trying its methods. A request without credentials is anonymous, if that
// is allowed.
//
// Threads: Immutable after construction; may be used concurrently.
class Authenticator {
 public:
  struct Options {
    std::vector<std::unique_ptr<const AuthMethod>> methods;  // in order
    // Whether a path allows anonymous requests. Null: no path does.
    std::function<bool(std::string_view path)> anonymous;
    // The audiences of this API server.
    std::vector<std::string> api_audiences;
    // The configured front proxy headers, in addition to the default ones, and prefixes of such
    // headers. Lower case.
    std::vector<std::string> proxy_headers;
    std::vector<std::string> proxy_prefixes;
    AuthnMetrics* metrics = nullptr;  // must outlive the authenticator
    const Clock* clock = nullptr;     // required with metrics
  };
  explicit Authenticator(Options options) : options_(std::move(options)) {}
  Authenticator(std::vector<std::unique_ptr<const AuthMethod>> methods, bool anonymous,
                std::vector<std::string> api_audiences = {});

  // Errors: Unauthorized with upstream's text. Does not block: returns ServiceUnavailable if Await
  // is necessary.
  Result<UserInfo> Authenticate(const net::Request& request) const;
  // The same, but not counted in the metrics: for a decision before the body has arrived.
  Result<UserInfo> Peek(const net::Request& request) const { return Find(nullptr, request); }
  // The same as Authenticate, but may block until `ctx` stops.
  Result<UserInfo> Await(const Context& ctx, const net::Request& request) const;

  // Removes all credentials and identity headers, so that they are not logged or forwarded.
  void RemoveCredentials(net::Headers& headers) const;

  // The TokenReview result for a token with one of `audiences` (empty: the API audiences).
  struct TokenReviewResult {
    bool authenticated = false;
    UserInfo user;
    std::vector<std::string> audiences;
    std::string error;
  };
  // May block.
  TokenReviewResult ReviewToken(const Context& ctx, std::string_view token,
                                std::vector<std::string> audiences) const;

  const std::vector<std::string>& api_audiences() const { return options_.api_audiences; }

 private:
  // `ctx` null: without blocking.
  Result<UserInfo> Find(const Context* ctx, const net::Request& request) const;
  Result<UserInfo> Measured(const Context* ctx, const net::Request& request) const;

  const Options options_;
};

// The token of `Authorization: Bearer <token>`; none if there is no such header.
std::optional<std::string_view> BearerToken(const net::Request& request);
// The warning for a malformed Authorization header; empty if there is none.
std::string_view BearerTokenWarning(const net::Request& request);

}  // namespace cox::apiserver
