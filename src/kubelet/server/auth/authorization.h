// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "kubelet/server/auth/authentication.h"

namespace cox::kubelet {

struct AuthorizationOptions {
  // "Webhook": SubjectAccessReview by the API server. "AlwaysAllow": no authorization.
  std::string mode = "Webhook";
  std::chrono::seconds allowed_ttl{300};
  std::chrono::seconds refused_ttl{30};
};

// The API attributes of a request: a verb on subresources of this Node. Permission for one of them
// is sufficient; the narrow one ("pods", "stats") is checked before "proxy", which covers all.
struct Attributes {
  std::string verb;
  std::vector<std::string> subresources;
};
Attributes AttributesOf(std::string_view method, std::string_view path);

// Authorizes requests to the node's server.
//
// Threads: all methods may be called concurrently; Authorize may wait for the API server.
// Ownership: the client outlives it; may be null with AlwaysAllow.
class Authorization {
 public:
  Authorization(AuthorizationOptions options, std::string node, Client* client);

  // Forbidden, with upstream's text. Internal if the API server cannot be reached.
  Status Authorize(Context& ctx, const User& user, std::string_view method, std::string_view path);

 private:
  Result<bool> SendReview(Context& ctx, const User& user, const std::string& verb,
                          const std::string& subresource);

  const AuthorizationOptions options_;
  const std::string node_;
  Client* const client_;
  struct CachedDecision {
    bool allowed = false;
    Clock::SteadyTime until;
  };
  Mutex mu_;
  LruMap<CachedDecision> known_ COX_GUARDED_BY(mu_){4096};
};

}  // namespace cox::kubelet
