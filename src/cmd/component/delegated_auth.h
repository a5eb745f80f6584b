// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/context.h"
#include "base/mutex.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "net/http.h"

namespace cox::cmd {

// Delegated authentication and authorization: the API server verifies bearer tokens (TokenReview)
// and permissions for paths (SubjectAccessReview). Results are cached for ten seconds, as in
// upstream. Probes need no credentials, because the kubelet sends none.
//
// Threads: all methods may be called concurrently.
class DelegatedAuth {
 public:
  // Without a client it connects to the API server on the first request.
  DelegatedAuth(Context ctx, Config config, std::shared_ptr<Client> client)
      : ctx_(std::move(ctx)), config_(std::move(config)), client_(std::move(client)) {}

  // Returns OK if the request is allowed, Unauthorized if the token is invalid, Forbidden, or
  // Unavailable if the API server does not respond.
  Status Check(Context& ctx, const net::Request& request);

 private:
  struct CachedResult {
    Status status;
    Clock::SteadyTime until;
  };

  Result<Client*> Connected();
  Status SendReviews(Context& ctx, Client& client, const std::string& token, std::string_view path);

  const Context ctx_;
  const Config config_;
  Mutex mu_;
  std::shared_ptr<Client> client_ COX_GUARDED_BY(mu_);
  std::map<std::pair<std::string, std::string>, CachedResult> results_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::cmd
