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
  bool anonymous = false;      // --anonymous-auth; upstream's recommendation, not its default
  bool webhook = true;         // --authentication-token-webhook
  std::string client_ca_file;  // --client-ca-file; empty: no client certificates
  std::chrono::seconds cache_ttl{120};  // --authentication-token-webhook-cache-ttl
};

// Whom a client certificate names: common name and organizations, as user and groups. The
// certificates are DER, the leaf first; nobody has verified them here. BadRequest if it does not
// parse.
Result<User> UserOfCertificate(const std::string& leaf);

// Who sends a request: the owner of a client certificate, of a bearer token (the API server is
// asked), or nobody.
//
// Threads: all methods may be called concurrently; Authenticate may wait for the API server.
// Ownership: the client outlives it. May be null where no token is asked about.
class Authentication {
 public:
  static Result<std::unique_ptr<Authentication>> Create(const Context& ctx,
                                                        AuthenticationOptions options,
                                                        Client* client);
  // Unauthorized if nobody vouches for it and the anonymous are not let in.
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
  struct Verdict {
    Result<User> user;
    Clock::SteadyTime until;
  };
  Mutex mu_;
  LruMap<Verdict> known_ COX_GUARDED_BY(mu_){1024};
};

}  // namespace cox::kubelet
