// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/authentication/v1.h"
#include "base/context.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/watched_file.h"
#include "coxswain/client.h"
#include "net/certificate.h"
#include "net/http.h"

namespace cox::kubelet {

using User = authentication::v1::UserInfo;

struct AuthenticationOptions {
  bool anonymous = false;      // --anonymous-auth; upstream recommends false, its default is true
  bool webhook = true;         // --authentication-token-webhook
  std::string client_ca_file;  // --client-ca-file; empty: no client certificates
  std::chrono::seconds cache_ttl{120};  // --authentication-token-webhook-cache-ttl
};

// The user of a client certificate: the common name is the user name, the organizations are the
// groups. `leaf` is DER and is not verified here. BadRequest if it does not parse.
Result<User> UserOfCertificate(const std::string& leaf);

// Authenticates requests by client certificate or by bearer token (TokenReview), else as anonymous.
//
// Threads: all methods may be called concurrently; Authenticate may wait for the API server.
// Ownership: the client outlives it. May be null if tokens are not reviewed.
class Authentication {
 public:
  static Result<std::unique_ptr<Authentication>> Create(const Context& ctx,
                                                        AuthenticationOptions options,
                                                        Client* client);
  // Unauthorized if there are no valid credentials and anonymous requests are not allowed.
  Result<User> Authenticate(Context& ctx, const net::Request& request);

 private:
  struct Private {};

 public:
  Authentication(Private, AuthenticationOptions options, Client* client);  // use Create()

 private:
  Result<User> OfToken(Context& ctx, const std::string& token);

  const AuthenticationOptions options_;
  Client* const client_;
  std::unique_ptr<WatchedFile<net::TrustedCas>> cas_;
  struct CachedUser {
    Result<User> user;
    Clock::SteadyTime until;
  };
  Mutex mu_;
  LruMap<CachedUser> known_ COX_GUARDED_BY(mu_){1024};
};

}  // namespace cox::kubelet
