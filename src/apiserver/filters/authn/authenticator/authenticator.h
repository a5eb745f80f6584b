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

// Finds out who sent a request, by one kind of credential.
//
// Methods are asked in turn: one that does not know the request's kind of credential says nothing,
// the first that knows whose it is decides.
// Threads: may be used concurrently. Try and TryToken must not block; AwaitToken may.
class AuthMethod {
 public:
  virtual ~AuthMethod() = default;
  // None: not mine. Unauthorized: a credential of mine that is no good.
  virtual Result<std::optional<UserInfo>> Try(const net::Request&) const {
    return std::optional<UserInfo>();
  }

  struct TokenIdentity {
    UserInfo user;
    // Those of the audiences asked for that the token is meant for; none: the token does not say.
    std::optional<std::vector<std::string>> audiences;
  };
  using TokenResult = Result<std::optional<TokenIdentity>>;
  // Whose bearer token it is, where one of `audiences` reads it. None and Unauthorized as above.
  // ServiceUnavailable (WouldWait): it cannot be said without asking somebody else.
  virtual TokenResult TryToken(std::string_view, std::span<const std::string>) const {
    return std::optional<TokenIdentity>();
  }
  // The same, where there is time to ask.
  virtual TokenResult AwaitToken(const Context&, std::string_view token,
                                 std::span<const std::string> audiences) const {
    return TryToken(token, audiences);
  }

  static Status WouldWait() { return Status::Unavailable("somebody else must be asked"); }
  static bool IsWouldWait(const Status& status) {
    return status.reason() == Reason::kServiceUnavailable;
  }
};

// Asks the methods who sent a request. Who shows no credential at all is anonymous, where that is
// allowed.
//
// Threads: constant after construction; may be used concurrently.
class Authenticator {
 public:
  struct Options {
    std::vector<std::unique_ptr<const AuthMethod>> methods;  // in the order they are asked
    // Whether a request for that path may come without a credential. Null: none may.
    std::function<bool(std::string_view path)> anonymous;
    // Who we are to those who make tokens for us.
    std::vector<std::string> api_audiences;
    // Besides the usual ones: headers by which a front proxy says who it speaks for; those that
    // begin with one of `proxy_prefixes` too. Lower case.
    std::vector<std::string> proxy_headers;
    std::vector<std::string> proxy_prefixes;
    AuthnMetrics* metrics = nullptr;  // outlives the authenticator
    const Clock* clock = nullptr;     // with metrics
  };
  explicit Authenticator(Options options) : options_(std::move(options)) {}
  Authenticator(std::vector<std::unique_ptr<const AuthMethod>> methods, bool anonymous,
                std::vector<std::string> api_audiences = {});

  // Unauthorized with upstream's text. Does not block: ServiceUnavailable where it would have to,
  // see Await.
  Result<UserInfo> Authenticate(const net::Request& request) const;
  // The same; blocks if need be, until `ctx` stops.
  Result<UserInfo> Await(const Context& ctx, const net::Request& request) const;

  // Removes whatever says who the client is: nobody behind shall see, log or forward it.
  void RemoveCredentials(net::Headers& headers) const;

  // What TokenReview tells of a token that somebody showed to one of `audiences` (empty: to us).
  struct TokenVerdict {
    bool authenticated = false;
    UserInfo user;
    std::vector<std::string> audiences;
    std::string error;
  };
  // Blocks if need be.
  TokenVerdict ReviewToken(const Context& ctx, std::string_view token,
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
// What a client is told whose header is almost that; empty if there is nothing to tell.
std::string_view BearerTokenWarning(const net::Request& request);

}  // namespace cox::apiserver
