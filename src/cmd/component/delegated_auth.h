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

// Who may look into a component: the API server is asked who a bearer token belongs to
// (TokenReview) and whether they may read that path (SubjectAccessReview). Answers hold for ten
// seconds, as upstream's do. Probes need nothing: the kubelet has no credentials to send.
//
// Threads: all methods may be called concurrently.
class DelegatedAuth {
 public:
  // The API server is not talked to before somebody asks.
  DelegatedAuth(Context ctx, Config config) : ctx_(std::move(ctx)), config_(std::move(config)) {}

  // OK if they may. Unauthorized: nobody the API server knows; Forbidden; Unavailable: it does not
  // answer.
  Status Check(Context& ctx, const net::Request& request);

 private:
  struct Answer {
    Status status;
    Clock::SteadyTime until;
  };

  Result<Client*> Connected();
  Status Ask(Context& ctx, Client& client, const std::string& token, std::string_view path);

  const Context ctx_;
  const Config config_;
  Mutex mu_;
  std::unique_ptr<Client> client_ COX_GUARDED_BY(mu_);
  std::map<std::pair<std::string, std::string>, Answer> answers_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::cmd
