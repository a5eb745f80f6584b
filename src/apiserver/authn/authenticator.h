// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
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
  virtual Result<std::optional<UserInfo>> Try(const net::Request& request) const = 0;
};

class Authenticator {
 public:
  Authenticator(std::vector<std::unique_ptr<const AuthMethod>> methods, bool anonymous)
      : methods_(std::move(methods)), anonymous_(anonymous) {}

  // Unauthorized with upstream's text.
  Result<UserInfo> Authenticate(const net::Request& request) const;

 private:
  const std::vector<std::unique_ptr<const AuthMethod>> methods_;
  const bool anonymous_;
};

// Bearer tokens from a file: token,user,uid,"group,group" per line. BadRequest, naming the line,
// for what is no such file.
Result<std::unique_ptr<const AuthMethod>> NewTokenFileMethod(std::string_view csv);
// Client certificates that one of these CAs signed: the common name is the user, organizations are
// its groups.
Result<std::unique_ptr<const AuthMethod>> NewClientCertificateMethod(std::string_view ca_pem);

// The token of `Authorization: Bearer <token>`; none if there is no such header.
std::optional<std::string_view> BearerToken(const net::Request& request);

}  // namespace cox::apiserver
