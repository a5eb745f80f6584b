// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/user.h"
#include "base/result.h"
#include "net/http.h"

namespace cox::apiserver {

// Finds out who sent a request.
//
// Authenticators are asked in turn: one that does not know the request's kind of credential says
// nothing, the first that says something decides. Who shows no credential at all is anonymous.
// Threads: may be used concurrently; must not block.
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
  // Whose bearer token it is, where one of `audiences` reads it. None and Unauthorized as above.
  virtual Result<std::optional<TokenIdentity>> TryToken(std::string_view,
                                                        std::span<const std::string>) const {
    return std::optional<TokenIdentity>();
  }
};

class Authenticator {
 public:
  // `api_audiences`: who we are to those who make tokens for us.
  Authenticator(std::vector<std::unique_ptr<const AuthMethod>> methods, bool anonymous,
                std::vector<std::string> api_audiences = {})
      : methods_(std::move(methods)),
        anonymous_(anonymous),
        api_audiences_(std::move(api_audiences)) {}

  // Unauthorized with upstream's text.
  Result<UserInfo> Authenticate(const net::Request& request) const;

  // What TokenReview tells of a token that somebody showed to one of `audiences` (empty: to us).
  struct TokenVerdict {
    bool authenticated = false;
    UserInfo user;
    std::vector<std::string> audiences;
    std::string error;
  };
  TokenVerdict ReviewToken(std::string_view token, std::vector<std::string> audiences) const;

  const std::vector<std::string>& api_audiences() const { return api_audiences_; }

 private:
  const std::vector<std::unique_ptr<const AuthMethod>> methods_;
  const bool anonymous_;
  const std::vector<std::string> api_audiences_;
};

// Bearer tokens from a file: token,user,uid,"group,group" per line. BadRequest, naming the line,
// for what is no such file.
Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv);
// Client certificates that one of these CAs signed: the common name is the user, organizations are
// its groups.
Result<std::unique_ptr<const AuthMethod>> NewClientCertificateMethod(std::string_view ca_pem);

// The token of `Authorization: Bearer <token>`; none if there is no such header.
std::optional<std::string_view> BearerToken(const net::Request& request);
// What a client is told whose header is almost that; empty if there is nothing to tell.
std::string_view BearerTokenWarning(const net::Request& request);

}  // namespace cox::apiserver
